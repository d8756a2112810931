"""A loss that gets something else than it is made for: targets of another shape, probabilities in place of logits."""

from __future__ import annotations

from ...graph.text import shape_text
from .cause import Cause
from .facts import Facts
from .ops import cause_at, op_of

LOSSES = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "Sub")  # functional losses expand their inputs first
LAYERS = ("Addmm", "Mm", "Sigmoid", "Tanh", "Relu", "Softplus", "Gather")  # `x[:, None] - y` or a mean over columns is meant so


def loss_causes(f: Facts) -> list[Cause]:
    """What the pass shows of the loss, if a gradient of it reaches the subject: one at most."""
    ways = () if f.edge is None or not f.is_connected else f.leading(f.edge)
    return [c for node in ways for c in (*_every_pair(f, node), *_softmax_twice(f, node))][:1]


def _every_pair(f: Facts, node: str) -> list[Cause]:
    """A result of shape (n, 1) became (n, n) in a difference: the targets have shape (n,)."""
    after = [sender for e in f.edges_at(node) for sender, _ in f.senders.get(e, ())]
    loss = next((s for s in after if op_of(f, s) in LOSSES), None) if op_of(f, node) == "Expand" else None
    given, results = f.inputs(node), f.results(node)
    ours = [t.value.shape for t in given if t.requires_grad]
    if (loss is None and op_of(f, node) != "Sub") or len(ours) != 1 or len(results) != 1:
        return []
    shape = results[0].value.shape
    others = [t.value.shape for t in given if not t.requires_grad]
    is_pair = len(shape) == 2 and shape[0] == shape[1] > 1 and ours[0] == (shape[0], 1) and others in ([], [shape[:1]])
    if not is_pair or not any(a.node and op_of(f, a.node) in LAYERS for a in f.nodes[node].next_functions):
        return []
    return [cause_at(f, "every_pair", loss or node, result=shape_text(ours[0]), shape=shape_text(shape))]


def _softmax_twice(f: Facts, node: str) -> list[Cause]:
    """A log_softmax of what a softmax has returned, as in a cross_entropy of probabilities."""
    before = [n.node for n in f.nodes[node].next_functions if n.node is not None] if op_of(f, node) == "LogSoftmax" else []
    return [cause_at(f, "softmax_twice", b) for b in before if op_of(f, b) == "Softmax"]
