"""No op of the last pass used the parameter, or the loss does not depend on what it made."""

from __future__ import annotations

from ...causes.cause import Cause
from ...causes.missing import missing
from ...causes.question import Question
from ..check import MAY, NET, Check

KINDS = ("not_used", "not_in_loss", "no_path", "made_after", "replaced", "copied")
BACKWARD = "loss = net(x).sum()\nloss.backward()"


def when(question: Question) -> list[Cause]:
    """The pass ran, and did not come here."""
    return [c for c in question.once(missing) if c.kind in KINDS]


CHECK = Check(
    code="AV102",
    name="unused",
    when=when,
    kinds=dict.fromkeys(KINDS, MAY),
    sick="body, head, other = torch.nn.Linear(4, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)\n"
    "opt = torch.optim.SGD([p for layer in (body, head, other) for p in layer.parameters()], lr=0.1)\n"
    "loss = head(body(torch.randn(6, 4))).sum()\nloss.backward()",
    innocent=(
        NET + BACKWARD,
        NET + "head = torch.nn.Linear(8, 1)\nfor p in head.parameters():\n    p.requires_grad_(False)\n" + BACKWARD,
        NET + "net.add_module('head', torch.nn.Linear(1, 1))\n" + BACKWARD,
    ),
)
