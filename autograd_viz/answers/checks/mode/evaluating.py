"""A batch norm whose weight is trained, and that ran in evaluation mode: with statistics that do not learn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...causes.cause import Cause
from ...causes.facts import Facts
from ...causes.ops import cause_at
from ...causes.sizes import NORMS
from ..check import MAY, Check

NORMED = "net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))\n"
NORMED += "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
TURN = "loss = net(torch.randn(6, 4)).pow(2).sum()\nloss.backward()"
WEIGHT = 1  # among the inputs of the node


def when(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """The first of them."""
    for node in ways:
        after = numbers.nodes[node].next_functions[WEIGHT : WEIGHT + 1]
        is_trained = bool(after) and after[0].node is not None and numbers.nodes[after[0].node].variable is not None
        if numbers.called(node).startswith(NORMS) and numbers.plain(node, "training") == "False" and is_trained:
            yield cause_at(numbers, "evaluating", node)
            return


CHECK = Check(
    code="AV501",
    name="trained-in-eval-mode",
    when=when,
    kinds={"evaluating": MAY},
    sick=NORMED + "net.eval()\n" + TURN,
    innocent=(NORMED + TURN, NORMED + "net.eval()\nnet[1].requires_grad_(False)\n" + TURN),
)
