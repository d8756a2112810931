"""The check of rows that were shuffled without their targets."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from ...graph.op_names import plain_name
from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.code import expression_at
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.question import Question
from .noise import takes_data
from .signs import LOSSES

TAKERS = {"Addmm": "mat1", "Mm": "self", "Convolution": "input", "Embedding": "indices"}
CALLED = ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
FEW = 3  # rows


@check("AV228", "shuffled-apart", {"shuffled_apart": MAY}, of_run=True, first=True)
def shuffled_apart(f: Facts, ways: Iterable[str], q: Question) -> Iterator[Cause]:
    """The rows of the input were put in a random order, and the targets were not, or in another one."""
    nodes = [*ways]
    given = [(n, saved) for n in nodes if (saved := TAKERS.get(op_of(f, n))) is not None and takes_data(f, n)]
    orders = {f.live.ordered(*at) for at in given}
    order = orders.pop() if len(orders) == 1 else None
    rows = {len(kept) if (kept := f.live.kept(*at)) is not None and kept.ndim else 0 for at in given}
    if order is None or not order[0]:
        return
    for node in nodes:
        its, targets = _targets(f, q, node)
        is_known = its is not None and targets is not None and {len(targets)} == rows and len(targets) >= FEW
        if is_known and its[0] != order[0] and its[1] < order[0] and _is_of_samples(targets):
            called = f.live.called_as(node)
            loss = called if called in CALLED else plain_name(op_of(f, node))
            yield cause_at(f, "shuffled_apart", node, shuffled=order[2], loss=loss)


def _targets(f: Facts, q: Question, node: str) -> tuple[Any, Any]:
    """The order of what a loss compares with, and its elements; of a difference by hand, by the name that stands there."""
    op = op_of(f, node)
    if op in LOSSES:
        return f.live.ordered(node, "target"), f.live.kept(node, "target")
    found = expression_at(f.source(node)) if op in ("Sub", "Rsub") else None
    sides = [found.left, found.right] if isinstance(found, ast.BinOp) else []
    named = [q.names[s.id] for s in sides if isinstance(s, ast.Name) and s.id in q.names]
    data = [t for t in named if hasattr(type(t), "grad_fn") and not t.requires_grad and t.ndim]
    return (q.history.ordered(data[0]), data[0]) if len(data) == 1 else (None, None)


def _is_of_samples(targets: Any) -> bool:
    """Do they differ from row to row, and not count the rows?"""
    is_even = bool((targets == targets[:1]).all())
    return not is_even and not (targets.ndim == 1 and bool((targets[1:] - targets[:-1] == 1).all()))
