"""Tensors that became a Python number with which the loss was computed: `x[0].item() * x[1]`.

A number has no history, so lines tell where it went: into another op of its statement, or into a line with the name that it was
assigned to.
"""

from __future__ import annotations

import re

from ...graph.surroundings import Source
from .history import Op
from .paths import behind, leading_from
from .question import Question

NAMES = re.compile(r"^([\w\s,]+?)\s*(?::[^=]+)?=(?!=)")  # the left side of an assignment


def number_of(q: Question) -> tuple[Op, Op] | None:
    """The op that made a number of a path from the tensor, and the op that computed with it on the way to the loss."""
    if q.root_op is None or not q.history.left:
        return None
    later = [op for op in behind([q.root_op]) if op.source is not None]
    for number in reversed(q.history.left):
        user = next((op for op in later if op.number > number.number and _is_used(number.source, op.source)), None)
        if user is not None and leading_from(q.subject, behind([number])):
            return number, user
    return None


def _is_used(made: Source | None, used: Source | None) -> bool:
    """Does the line of an op contain the number that was made at a place?"""
    if made is None or used is None or made.file != used.file:
        return False
    if used.line <= made.line <= used.end_line:
        return True
    return any(re.search(rf"\b{name}\b", used.text) for name in _names(made))


def _names(made: Source) -> list[str]:
    """The names that the number's statement assigns to; for `return`, that of the function."""
    text = made.text.strip()
    if text.startswith("return "):
        return [made.function] if made.function else []
    left = NAMES.match(text)
    return re.findall(r"\w+", left[1]) if left is not None else []
