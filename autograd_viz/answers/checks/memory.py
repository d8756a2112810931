"""Checks of memory that is kept."""

from __future__ import annotations

from collections.abc import Iterator

from ..causes.cause import Cause, cause_of
from ..causes.paths import has_graph, with_history
from ..causes.question import Question
from .check import SO, check

PLENTY = 2  # passes whose graphs are kept


@check("AV601", "kept-graphs", {"kept_graphs": SO}, of_run=True)
def kept_graphs(question: Question) -> Iterator[Cause]:
    """A variable that keeps the graphs of earlier passes: `total += loss`, a list of losses, a hidden state."""
    q = question
    roots = {p.root: p for p in q.passes if p.root is not None and not p.error}
    for name, held in q.names.items() if len(roots) >= PLENTY else ():
        several = held if isinstance(held, list | tuple) else [held]
        ops = [op for t in several if has_graph(t) and (op := q.history.op_of(t)) is not None]
        kept = [p for op, p in roots.items() if op in with_history(ops)]
        if len({p.source for p in kept}) == 1 and len(kept) >= PLENTY:
            yield cause_of("kept_graphs", max(ops, key=lambda op: op.number), held=name, count=str(len(kept)))
