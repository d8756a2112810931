"""Causes as sentences in the chosen language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from .. import words
from ..graph.model import Source, Tensor
from ..graph.text import shape_text, value_text
from ..sentences import PROPERTIES
from .cause import Cause, NodeAt, Said
from .cells import numbers

BEST = ("zero_times_inf",)  # whose advice makes that of the others needless, as does that of what lies behind the subject
LONGEST = 72  # characters of a line of code


def sentences(subject: Tensor | None, causes: Sequence[Cause], headed: bool = True) -> list[str]:
    """One line each: what is the case, each cause, and what to do about the first that can be helped.

    Args:
        subject: the tensor that was asked about, or the root of a pass that failed; None if there is none.
        causes: what was found.
        headed: say first what stands in its grad.
    """
    name = (subject.name if subject is not None else None) or words.THE_TENSOR
    said = [] if subject is None or not headed else [_head(subject, name)]
    said += dict.fromkeys(_formed("CAUSE", c, name) for c in causes)
    last = [c for c in causes if c.kind in BEST or "name" in c.said]
    advice = dict.fromkeys(_formed("DO", c, name) for c in last or causes if hasattr(words, f"DO_{c.kind.upper()}"))
    return said + [words.DO.format(advice=a) for a in advice]


def _head(t: Tensor, name: str) -> str:
    """What stands in grad."""
    if t.grad is None:
        return words.HEAD_NONE.format(name=name)
    for what, template in (("nan", words.HEAD_BAD), ("inf", words.HEAD_BAD)):
        if PROPERTIES[what](t.grad):
            return template.format(name=name, what=what)
    if PROPERTIES["zero"](t.grad):
        return words.HEAD_ZERO.format(name=name)
    text = value_text(t.grad)
    if text == shape_text(t.grad.shape):
        return words.HEAD_SHAPE.format(name=name, shape=text)
    return words.HEAD_IS.format(name=name, grad=text)


def _formed(prefix: str, cause: Cause, name: str) -> str:
    template: str = getattr(words, f"{prefix}_{cause.kind.upper()}")
    said = {k: _text(v) for k, v in cause.said.items()}
    return template.format(**{"name": name, "line": place_text(cause.source), **said})


def _text(said: Said) -> str:
    if isinstance(said, str):
        return said
    if isinstance(said, NodeAt):
        return _node_at(said)
    return words.PLUS.join(words.PART.format(value=p.value, node=_text(p.at)) for p in said)


def _node_at(said: NodeAt) -> str:
    """`MulBackward0 (line 3)`, with the file or the cell if that is another than that of the question."""
    source = said.source
    if source is None:
        return said.node
    cell = numbers().get(source.file)
    file = PurePath(source.file).name if cell is None else f"In [{cell}]"
    is_named = source.file != said.asked_in and not file.startswith("<")
    return (words.NODE_AT_OF if is_named else words.NODE_AT).format(node=said.node, line=source.line, file=file)


def place_text(source: Source | None) -> str:
    """`line 3: y = x.detach()`, after the number of the cell or the name of the file."""
    if source is None:
        return words.NO_LINE
    if source.file.startswith("<autograd_viz"):
        return words.IN_BACKWARD
    code = " ".join(source.text.split())
    code = code if len(code) <= LONGEST else code[: LONGEST - 1] + "…"
    file = PurePath(source.file).name
    cell = numbers().get(source.file)
    is_unnamed = source.file.startswith("<") or "ipykernel" in source.file or not file
    if is_unnamed and cell is None and not code and file:
        return words.AT_LINE_UNSEEN.format(line=source.line, file=file)
    at = words.AT_LINE_IN_CELL if cell is not None else words.AT_LINE if is_unnamed else words.AT_LINE_OF
    return at.format(line=source.line, code=code, file=file, cell=cell).rstrip(": ")
