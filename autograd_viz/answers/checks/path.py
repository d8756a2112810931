"""Checks of paths to the loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ... import words
from ..causes.cause import Cause, cause_of
from ..causes.check import ASKED, MAY, SO, check
from ..causes.facts import Facts
from ..causes.missing import missing
from ..causes.ops import cause_at, name_of_op, op_of
from ..causes.question import Question

UNUSED_KINDS = ("not_used", "not_in_loss", "no_path", "made_after", "replaced", "copied")


@check("AV101", "detached", {"path_cut_*": MAY})
def detached(question: Question) -> list[Cause]:
    """The path from a parameter to the loss was cut: detach(), .data, item(), no_grad(), an op without a gradient."""
    return [c for c in question.once(missing) if c.kind.startswith("path_cut")]


@check("AV102", "unused", {**dict.fromkeys(UNUSED_KINDS, MAY), "not_used_now": ASKED})
def unused(question: Question) -> list[Cause]:
    """No op of the last pass used the parameter, or the loss does not depend on what it made."""
    return [c for c in question.once(missing) if c.kind in (*UNUSED_KINDS, "not_used_now")]


@check("AV103", "written-as-data", {"written_as_data": SO}, of_run=True)
def written_as_data(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A tensor that an op had saved was changed through .data: autograd did not see it, and backward() used the new values."""
    f = numbers
    for node in ways:
        for saved in f.nodes[node].saved:
            write = None if saved.tensor is None else f.live.written_before_pass(node, saved.name)
            if write is not None and saved.tensor is not None:
                said = {"written": f.name_of(saved.tensor) or words.THE_TENSOR, "op": name_of_op(f, node)}
                yield cause_of("written_as_data", write, saved=f.source(node), **said)
                return


@check("AV104", "skip-written", {"skip_written": MAY}, of_run=True)
def skip_written(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """An in-place op first in a residual branch: it writes into the tensor that the skip adds, too."""
    f = numbers
    for node in ways:
        users = [s for e in f.edges_at(node) for s, _ in f.senders.get(e, ())]
        adds = [s for s in users if op_of(f, s) == "Add"]
        layers = [s for s in users if s not in adds and f.source(s) is not None and f.source(s) == f.source(node)]
        before = f.nodes[node].next_functions[0].node if adds and layers else None
        is_first = before is not None and (op_of(f, before) == "Add" or f.source(before) != f.source(node))
        is_called = (
            is_first and f.live.called_as(node).replace("_", "") == op_of(f, node).lower()
        )  # a GRU has in-place ops inside
        written = f.live.changed(node, "result") if is_called else None
        if written is not None and written.now:
            yield cause_at(f, "skip_written", node, added=f.source(adds[0]))
            return
