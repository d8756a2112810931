"""A gradient that is all zero: the op that passed none on, or a sum that cancels."""

from __future__ import annotations

from ...causes.cause import Cause
from ...causes.facts import Facts
from ...causes.sizes import no_effect
from ...causes.zeros import zero_causes
from ..check import ASKED, MAY, SO, Check

DEAD = "net = torch.nn.Linear(4, 2)\nx, opt = torch.rand(6, 4), torch.optim.SGD(net.parameters(), lr=0.1)\n"
PASS = "\nloss.backward()"

NO_FAULT = (  # sums that cancel, zeros up to rounding, and what happened after the pass
    "zero_sent", "zero_cancel", "zero_broadcast", "zero_normed", "zero_shifted", "rows_unused", "zero_old", "zero_since",
    "zeroed*", "graph_gone",
)  # fmt: skip


def when(numbers: Facts) -> list[Cause]:
    """Where the zeros began."""
    return no_effect(numbers) or zero_causes(numbers)


CHECK = Check(
    code="AV302",
    name="all-zero",
    when=when,
    kinds={**dict.fromkeys(NO_FAULT, ASKED), "zero_single": SO, "zero_*": MAY, "cancelled": MAY},
    sick=DEAD + "loss = (net(x) - 100).relu().sum()" + PASS,
    innocent=(
        DEAD + "loss = (net(x) + 100).relu().sum()" + PASS,
        DEAD + "loss = net(x).relu().sum()" + PASS,
        DEAD + "loss = (net(x) - 100).relu().sum()\nloss.backward()\nloss = (net(x) * 2).sum()" + PASS,
    ),
)
