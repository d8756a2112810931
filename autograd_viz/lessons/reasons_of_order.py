"""The order in which functions run: the engine's order, with its queue as the reason."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .. import words
from ..answers.sentences import listed
from ..graph.trace import Engine
from .dry_run import DryRun, labels
from .question import Option, Question, Slip

LONGEST = 20  # calls with a hint of their own


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
        words.HINT_ROOT.format(root=root),
        tuple(_slips(dry_run, offered, called)),
    )


def _offered(dry_run: DryRun, ran: list[str]) -> list[str]:
    """The functions in the order of their creation, which is not the order of running."""
    created = [n.id for n in dry_run.document.nodes if n.id in ran]
    return created if created != ran else created[::-1]


def _slips(dry_run: DryRun, offered: list[str], called: dict[str, str]) -> Iterator[Slip]:
    """At each position after the first, what a wrong choice there shows."""
    for k, (last, step) in enumerate(pairwise(dry_run.trace.steps[:LONGEST]), 1):
        said = _ready(last.engine, k, called[last.node], called)
        wrong = [(i, node) for i, node in enumerate(offered) if node != step.node]
        yield from (((k, i), said + _waits(last.engine, node, called)) for i, node in wrong)


def _ready(engine: Engine, k: int, before: str, called: dict[str, str]) -> str:
    """The functions that are ready after k calls."""
    return words.ORDER_READY.format(count=k, before=before, ready=listed([called[n] for n in engine.queue]))


def _waits(engine: Engine, node: str, called: dict[str, str]) -> str:
    """What a function still waits for, if it has begun to wait."""
    waiting = next((w for w in engine.waiting if w.node == node), None)
    if waiting is None:
        return ""
    said = words.SLIP_WAITS.format(node=called[node], arrived=waiting.arrived, expected=waiting.expected)
    return words.BETWEEN + said
