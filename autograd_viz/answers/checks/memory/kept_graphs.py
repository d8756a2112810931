"""A variable that keeps the graphs of earlier passes: `total += loss`, a list of losses, a hidden state."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause, cause_of
from ...causes.paths import has_graph, with_history
from ...causes.question import Question
from ..check import LOSS, OPT, SO, Check

PLENTY = 2  # passes whose graphs are kept
TURN = f"    opt.zero_grad()\n    {LOSS}    loss.backward()\n    opt.step()\n"


def when(question: Question) -> Iterator[Cause]:
    """What it was made of reaches the roots of several passes at one line."""
    q = question
    roots = {p.root: p for p in q.passes if p.root is not None and not p.error}
    for name, held in q.names.items() if len(roots) >= PLENTY else ():
        several = held if isinstance(held, list | tuple) else [held]
        ops = [op for t in several if has_graph(t) and (op := q.history.op_of(t)) is not None]
        kept = [p for op, p in roots.items() if op in with_history(ops)]
        if len({p.source for p in kept}) == 1 and len(kept) >= PLENTY:
            yield cause_of("kept_graphs", max(ops, key=lambda op: op.number), held=name, count=str(len(kept)))


CHECK = Check(
    code="AV601",
    name="kept-graphs",
    when=when,
    kinds={"kept_graphs": SO},
    sick=f"{OPT}total = 0.0\nfor _ in range(4):\n{TURN}    total += loss\n",
    innocent=(
        f"{OPT}total = 0.0\nfor _ in range(4):\n{TURN}    total += loss.item()\n",
        f"{OPT}losses = []\nfor _ in range(4):\n{TURN}    losses.append(loss.detach())\n",
        f"{OPT}for _ in range(4):\n    parts = [net(x).pow(2).mean(), net(x).abs().mean()]\n    opt.zero_grad()\n"
        "    sum(parts).backward()\n    opt.step()\n",
    ),
    of_run=True,
)
