"""Checks of paths to the loss."""

from __future__ import annotations

from collections.abc import Iterator

from ... import words
from ..causes.cause import Cause, cause_of, source_of
from ..causes.code import spelling
from ..causes.history import Op
from ..causes.missing import missing
from ..causes.paths import has_graph, is_op
from ..causes.question import Question
from .check import MAY, SO, check

UNUSED_KINDS = ("not_used", "not_in_loss", "no_path", "made_after", "replaced", "copied")
SAVES_NOT = ("add", "sub", "neg", "sum", "mean", "view", "reshape", "cat", "stack", "getitem", "transpose", "permute", "expand")


@check("AV101", "detached", {"path_cut_*": MAY})
def detached(question: Question) -> list[Cause]:
    """The path from a parameter to the loss was cut: detach(), .data, item(), no_grad(), an op without a gradient."""
    return [c for c in question.once(missing) if c.kind.startswith("path_cut")]


@check("AV102", "unused", dict.fromkeys(UNUSED_KINDS, MAY))
def unused(question: Question) -> list[Cause]:
    """No op of the last pass used the parameter, or the loss does not depend on what it made."""
    return [c for c in question.once(missing) if c.kind in UNUSED_KINDS]


@check("AV103", "written-as-data", {"written_as_data": SO})
def written_as_data(question: Question) -> Iterator[Cause]:
    """A tensor that an op had saved was changed through .data: autograd did not see it, and backward() used the new values."""
    q, last = question, question.last
    if last is None or last.error or not q.history.knows_uses:
        return
    named = [(name, t) for name, t in q.names.items() if has_graph(t)]
    for name, tensor in ((q.name_of(q.tensor) or words.THE_TENSOR, q.tensor), *named):
        thing = q.subject if tensor is q.tensor else q.history.op_of(tensor)
        if tensor is not q.tensor and thing not in q.ops:
            continue
        writes = [e for e in q.history.events_of(tensor, "written") if e.number < last.number]
        users = [op for op in q.ops if writes and _saves(op, thing)]
        for write in writes:
            if savers := [op for op in users if op.number < write.number]:
                yield cause_of("written_as_data", write, written=name, op=spelling(savers[0]), saved=source_of(savers[0]))
                return


def _saves(op: Op, thing: object) -> bool:
    is_used = any(given is thing or (is_op(given) and given == thing) for given in op.given)
    return is_used and op.name.strip("_").removeprefix("r") not in SAVES_NOT
