"""The order in which functions run: the engine's order, with its queue as the reason."""

from __future__ import annotations

from collections.abc import Sequence

from .. import words
from ..graph.trace import Engine
from ..sentences import listed
from .dry_run import DryRun, labels
from .question import Option, Question


def order_question(dry_run: DryRun, root: str) -> Question:
    """The question: put all functions of a pass in order."""
    called = labels(dry_run.document)
    ran = [s.node for s in dry_run.trace.steps]
    offered = _offered(dry_run, ran)
    return Question(
        "order",
        words.ASK_ORDER.format(root=root),
        tuple(offered.index(node) for node in ran),
        words.BETWEEN.join([words.ORDER_FIRST.format(node=called[ran[0]], root=root), words.ORDER_LATEST]),
        tuple(Option(called[node], "blue") for node in offered),
        lambda given: _slip(dry_run, [offered[i] for i in given], called),
    )


def _offered(dry_run: DryRun, ran: list[str]) -> list[str]:
    """The functions in the order of their creation, which is not the order of running."""
    created = [n.id for n in dry_run.document.nodes if n.id in ran]
    return created if created != ran else created[::-1]


def _slip(dry_run: DryRun, given: Sequence[str], called: dict[str, str]) -> str:
    """The ready functions at the first wrong position."""
    steps = dry_run.trace.steps
    k = next(k for k, step in enumerate(steps) if step.node != given[k])
    if k == 0:
        return ""
    engine: Engine = steps[k - 1].engine
    waiting = next((w for w in engine.waiting if w.node == given[k]), None)
    said = (
        [words.SLIP_WAITS.format(node=called[given[k]], arrived=waiting.arrived, expected=waiting.expected)] if waiting else []
    )
    ready = listed([called[n] for n in engine.queue])
    before, node = called[steps[k - 1].node], called[steps[k].node]
    return words.BETWEEN.join([words.ORDER_READY.format(before=before, ready=ready, node=node), *said])
