"""Paths through the ops that ran: which led to what, and where one lost its history.

A tensor may also become a Python number: `x[0].item() * x[1]`. It has no history, so lines tell into which others it went.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from ...graph.surroundings import Source
from .history import Op

T = TypeVar("T")
LIBRARIES = ("torch", "autograd_viz")
DETACHED, AIMING = ("detach", "data"), ("mse_loss", "smooth_l1_loss", "l1_loss", "huber_loss", "sub", "rsub")
CUTS = ("op", "no_grad", "inference", "constant")
NAMES = re.compile(r"^([\w\s,]+?)\s*(?::[^=]+)?=(?!=)")  # the left side of an assignment


def closure(starts: Iterable[T], onwards: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """These, and all that can be reached from them."""
    found = dict.fromkeys(starts)
    stack = list(found)
    while stack:
        for thing in onwards(stack.pop()):
            if thing not in found:
                found[thing] = None
                stack.append(thing)
    return found


def is_op(thing: Any) -> bool:
    """Is it an op, not a leaf? Its class is asked: an op may look its inputs up."""
    return hasattr(type(thing), "cut")


def has_graph(thing: Any) -> bool:
    """Is it a tensor that an op made? Its class is asked first: what another object does when it is asked is not known."""
    return hasattr(type(thing), "grad_fn") and thing.grad_fn is not None


def is_of_user(thing: Any) -> bool:
    """Is it an object of a class that neither library has, and no class, function or module?"""
    kind = type(thing)
    return not issubclass(kind, type | ModuleType | FunctionType) and kind.__module__.partition(".")[0] not in LIBRARIES


def behind(starts: Iterable[Op]) -> list[Op]:
    """These ops, and all whose results led to them. Paths through detached tensors count."""
    return [*closure(starts, lambda op: filter(is_op, op.given))]


def leading_from(leaf: Any, ops: list[Op]) -> set[Op]:
    """Those of the ops that a leaf, or a result, led to."""
    users: dict[Op, list[Op]] = {}
    for op in ops:
        for given in filter(is_op, op.given):
            users.setdefault(given, []).append(op)
    return {*closure((op for op in ops if op is leaf or any(g is leaf for g in op.given)), lambda op: users.get(op, ()))}


def with_history(starts: Iterable[Op]) -> set[Op]:
    """The ops that a gradient reaches from these; it stops where a tensor was detached."""
    return {*closure((op for op in starts if not op.cut), lambda op: (g for g in op.given if is_op(g) and not g.cut))}


def reaches(root: Op, leaf: Any) -> bool:
    """Does a gradient of the root reach the leaf, or the result of an op?"""
    there = with_history([root])
    return leaf in there if is_op(leaf) else any(g is leaf for op in there for g in op.given)


def cuts_between(root: Op, leaf: Any) -> list[Op]:
    """The ops where paths from the leaf to the root lost their history, the nearest to the root first."""
    ops = leading_from(leaf, behind([root]))
    cuts = _frontier(ops, root)
    there = leading_from(leaf, [op for op in ops if not op.cut])  # the gradient that comes so far would reach the leaf
    first = {op.source for op in ops if op.cut and any(g is leaf or (is_op(g) and g in there) for g in op.given)}
    return [c for c in cuts if c.source in first] or cuts  # what comes after a cut is data, which others may cut again


def origins(op: Op) -> list[Op]:
    """The ops where what led here lost its history, the nearest first."""
    return _frontier(behind([op]), op)


def _frontier(ops: Iterable[Op], root: Op) -> list[Op]:
    """Those of the ops' cuts that a gradient of the root reaches first; else all."""

    def detached(op: Op) -> list[Op]:
        return [g for g in op.given if is_op(g) and g.cut]

    starts = [g for op in with_history([root]) or [root] for g in detached(op)] + [root] * bool(root.cut)
    near = closure(starts, lambda op: [] if op.cut in CUTS else detached(op))
    cuts = [op for op in ops if op.cut in CUTS]
    aims = {g for op in near if op.name.strip("_") in AIMING and not op.cut for g in op.given if is_op(g)}
    aims |= {g for op in with_history([root]) if op.name.strip("_") in AIMING for g in op.given if is_op(g)}
    last_first = sorted([op for op in cuts if op in near] or cuts, key=lambda op: op.number, reverse=True)
    return sorted(last_first, key=lambda op: op.name in DETACHED and op in aims)  # these may be cut on purpose


def number_between(root: Op, subject: Any, numbers: Sequence[Op]) -> tuple[Op, Op] | None:
    """The op that made a number of a path from the subject, and the op that computed with it on the way to the root."""
    later = [(op, used) for op in behind([root]) if (used := op.source) is not None] if numbers else []
    for number in reversed(numbers):
        made = number.source
        user = next((op for op, used in later if op.number > number.number and _is_used(made, used)), None)
        if user is not None and leading_from(subject, behind([number])):
            return number, user
    return None


def _is_used(made: Source | None, used: Source) -> bool:
    """Does the line of an op contain the number that was made at a place?"""
    if made is None or made.file != used.file:
        return False
    return used.line <= made.line <= used.end_line or any(re.search(rf"\b{name}\b", used.text) for name in _names(made))


def _names(made: Source) -> list[str]:
    """The names that the number's statement assigns to; for `return`, that of the function."""
    text = made.text.strip()
    if "key=" in text:  # it only tells which is the largest
        return []
    if text.startswith("return "):
        return [made.function] if made.function else []
    left = NAMES.match(text)
    return re.findall(r"\w+", left[1]) if left is not None else []
