"""Checks of what a loss, and the layers before it, are given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...graph.text import shape_text
from ..causes.cause import Cause
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.sizes import NORMS
from .check import MAY, SO, check

INSIDE = {
    "LogSoftmax": ("Softmax", "softmax_twice"),
    "BinaryCrossEntropyWithLogits": ("Sigmoid", "sigmoid_twice"),
    "NllLoss": ("Softmax", "softmax_for_log"),
}
LOSSES = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "Sub")  # functional losses expand their inputs first
LAYERS = ("Addmm", "Mm", "Sigmoid", "Tanh", "Relu", "Softplus", "Gather")  # `x[:, None] - y` or a mean of columns is meant so
WEIGHT = 1  # among the inputs of the node


@check("AV201", "squashed-twice", {"softmax_twice": SO, "sigmoid_twice": SO, "softmax_for_log": MAY}, of_run=True)
def squashed_twice(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Probabilities in place of logits: a loss that has a softmax or a sigmoid inside got the result of another."""
    for node in ways:
        squasher, kind = INSIDE.get(op_of(numbers, node), ("", ""))
        for after in numbers.nodes[node].next_functions[: 1 if squasher else 0]:
            if after.node is not None and op_of(numbers, after.node) == squasher:
                yield cause_at(numbers, kind, after.node)


@check("AV203", "broadcast-in-loss", {"every_pair": SO, "every_pair_apart": MAY}, of_run=True)
def broadcast_in_loss(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A layer's (n, 1) that a difference with targets of shape (n,) made (n, n)."""
    f = numbers
    for node in ways:
        op, results, shapes = op_of(f, node), [t.value.shape for t in f.results(node)], {t.value.shape for t in f.inputs(node)}
        before = {op_of(f, a.node) for a in f.nodes[node].next_functions if a.node is not None}
        after = [s for e in f.edges_at(node) for s, _ in f.senders.get(e, ()) if op == "Expand" and op_of(f, s) in LOSSES]
        n, is_difference = (results or [(0,)])[0][:1], (op == "Sub" or after) and before & {*LAYERS}
        if is_difference and n >= (2,) and results == [n * 2] and shapes in ({(*n, 1)}, {(*n, 1), n}):
            kind = "every_pair" if after and op_of(f, after[0]) != "Sub" else "every_pair_apart"  # a difference may be meant so
            yield cause_at(f, kind, (after or [node])[0], result=shape_text((*n, 1)), shape=shape_text(n * 2))


@check("AV501", "trained-in-eval-mode", {"evaluating": MAY}, of_run=True)
def evaluating(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A batch norm whose weight is trained, and that ran in evaluation mode: with statistics that do not learn."""
    for node in ways:
        after = numbers.nodes[node].next_functions[WEIGHT : WEIGHT + 1]
        is_trained = bool(after) and after[0].node is not None and numbers.nodes[after[0].node].variable is not None
        if numbers.called(node).startswith(NORMS) and numbers.plain(node, "training") == "False" and is_trained:
            yield cause_at(numbers, "evaluating", node)
            return
