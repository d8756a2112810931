"""A layer norm over one element: it is its own mean, so the result is the bias whatever the input is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...causes.cause import Cause
from ...causes.facts import Facts
from ...causes.ops import cause_at, op_of
from ..check import SO, Check

LAYERS = "net = torch.nn.Sequential(torch.nn.Linear(4, {0}), torch.nn.LayerNorm({1}))\n"
TURN = "loss = net(torch.randn(2, 6, 4)).pow(3).sum()\nloss.backward()"


def when(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """The normalized shape has one element."""
    for node in ways:
        if op_of(numbers, node) == "NativeLayerNorm" and numbers.plain(node, "normalized_shape") in ("(1,)", "[1]", "1"):
            yield cause_at(numbers, "norm_of_one", node)


CHECK = Check(
    code="AV303",
    name="norm-of-one",
    when=when,
    kinds={"norm_of_one": SO},
    sick=LAYERS.format(1, 1) + TURN,
    innocent=(LAYERS.format(2, 2) + TURN, LAYERS.format(1, [6, 1]) + TURN),
)
