"""The path from a parameter to the loss was cut: detach(), .data, item(), no_grad(), an op without a gradient."""

from __future__ import annotations

from ...causes.cause import Cause
from ...causes.missing import missing
from ...causes.question import Question
from ..check import MAY, NET, Check

TWO = "a, b = torch.nn.Linear(4, 3), torch.nn.Linear(3, 1)\nx = torch.randn(6, 4)\n"
TWO += "opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)\n"


def when(question: Question) -> list[Cause]:
    """Where the path was cut, at most at two places."""
    return [c for c in question.once(missing) if c.kind.startswith("path_cut")]


CHECK = Check(
    code="AV101",
    name="detached",
    when=when,
    kinds={"path_cut_*": MAY},
    sick=TWO + "loss = b(a(x).detach()).sum()\nloss.backward()",
    innocent=(
        TWO + "loss = b(a(x)).sum()\nloss.backward()",
        TWO + "h = a(x)\nloss = (b(h.detach()) + h.sum()).sum()\nloss.backward()",  # one of two ways
        NET + "loss = net(x).mean()\nseen = loss.detach().item()\nloss.backward()",
    ),
)
