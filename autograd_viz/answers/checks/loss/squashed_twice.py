"""Probabilities in place of logits: a loss that has a softmax or a sigmoid inside got the result of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...causes.cause import Cause
from ...causes.facts import Facts
from ...causes.ops import cause_at, op_of
from ..check import NET, SO, Check

INSIDE = {"LogSoftmax": ("Softmax", "softmax_twice"), "BinaryCrossEntropyWithLogits": ("Sigmoid", "sigmoid_twice")}
ROWS = "torch.tensor([0, 1, 2, 0, 1, 2])"


def when(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """The op before it has squashed its input already."""
    for node in ways:
        squasher, kind = INSIDE.get(op_of(numbers, node), ("", ""))
        for after in numbers.nodes[node].next_functions[: 1 if squasher else 0]:
            if after.node is not None and op_of(numbers, after.node) == squasher:
                yield cause_at(numbers, kind, after.node)


CHECK = Check(
    code="AV201",
    name="squashed-twice",
    when=when,
    kinds={"softmax_twice": SO, "sigmoid_twice": SO},
    sick=NET.replace("8, 1", "8, 3") + f"loss = torch.nn.functional.cross_entropy(net(x).softmax(1), {ROWS})\nloss.backward()",
    innocent=(
        NET.replace("8, 1", "8, 3") + f"loss = torch.nn.functional.cross_entropy(net(x), {ROWS})\nloss.backward()",
        NET.replace("8, 1", "8, 3")
        + f"loss = torch.nn.functional.cross_entropy(net(x).log_softmax(1), {ROWS})\nloss.backward()",
        NET.replace("8, 1", "8, 3")
        + f"loss = torch.nn.functional.cross_entropy(net(x).softmax(1) @ torch.randn(3, 3), {ROWS})\nloss.backward()",
        NET + "loss = torch.nn.functional.binary_cross_entropy(net(x).sigmoid().squeeze(1), y.sigmoid())\nloss.backward()",
    ),
)
