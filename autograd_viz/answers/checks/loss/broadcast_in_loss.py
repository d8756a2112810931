"""A layer's (n, 1) that a difference with targets of shape (n,) made (n, n)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....graph.text import shape_text
from ...causes.cause import Cause
from ...causes.facts import Facts
from ...causes.ops import cause_at, op_of
from ..check import MAY, NET, SO, Check

LOSSES = ("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "Sub")  # functional losses expand their inputs first
LAYERS = ("Addmm", "Mm", "Sigmoid", "Tanh", "Relu", "Softplus", "Gather")  # `x[:, None] - y` or a mean of columns is meant so


def when(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """Each row is compared with every target."""
    f = numbers
    for node in ways:
        op, results, shapes = op_of(f, node), [t.value.shape for t in f.results(node)], {t.value.shape for t in f.inputs(node)}
        before = {op_of(f, a.node) for a in f.nodes[node].next_functions if a.node is not None}
        after = [s for e in f.edges_at(node) for s, _ in f.senders.get(e, ()) if op == "Expand" and op_of(f, s) in LOSSES]
        n, is_difference = (results or [(0,)])[0][:1], (op == "Sub" or after) and before & {*LAYERS}
        if is_difference and n >= (2,) and results == [n * 2] and shapes in ({(*n, 1)}, {(*n, 1), n}):
            kind = "every_pair" if after and op_of(f, after[0]) != "Sub" else "every_pair_apart"  # a difference may be meant so
            yield cause_at(f, kind, (after or [node])[0], result=shape_text((*n, 1)), shape=shape_text(n * 2))


CHECK = Check(
    code="AV203",
    name="broadcast-in-loss",
    when=when,
    kinds={"every_pair": SO, "every_pair_apart": MAY},
    sick=NET + "loss = torch.nn.functional.mse_loss(net(x), y)\nloss.backward()",
    innocent=(
        NET + "loss = torch.nn.functional.mse_loss(net(x), y.unsqueeze(1))\nloss.backward()",
        NET + "loss = torch.nn.functional.mse_loss(net(x[:1]), y[:1])\nloss.backward()",
        NET + "loss = (net(x).squeeze(1)[:, None] - y).pow(2).mean()\nloss.backward()",
        NET + "loss = (net(x) - y[:4]).pow(2).mean()\nloss.backward()",
    ),
)
