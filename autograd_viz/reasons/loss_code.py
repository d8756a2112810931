"""The statements that made the loss."""

from __future__ import annotations

from ..graph.model import Source
from .code import Statement, assignment, statement_of
from .facts import Facts


def statements_of_loss(f: Facts) -> list[Statement]:
    """The statements that made the loss: those of the ops that it was made by, or the last assignment to its name."""
    leads = f.behind_loss
    sources: list[Source | None] = [op.source for op in f.document.ops[::-1] if leads & {*op.outputs}]
    found = [s for s in map(statement_of, dict.fromkeys(sources)) if s is not None]
    asked = statement_of(f.here)
    names = [n for root in f.loss if (n := f.tensors[root].name) is not None]
    by_name = [assignment(n, asked) for n in names] if asked is not None else []
    return found + [s for s in by_name if s is not None]
