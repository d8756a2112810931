"""The program raised an error of autograd, and what was seen tells where it comes from."""

from __future__ import annotations

from ..causes.cause import Cause
from ..causes.question import Question
from .check import NET, SO, Check

KINDS = ("modified*", "twice*", "root_frozen", "root_of_data", "root_unseen", "cut_*", "optimizer_not_leaf", "error")


def when(question: Question) -> list[Cause]:
    """It is asked with the error (`causes_of_error`), not of a tensor."""
    return []


CHECK = Check(
    code="AV901",
    name="raised",
    when=when,
    kinds=dict.fromkeys(
        ("modified*", "twice*", "root_frozen", "root_of_data", "root_unseen", "cut_*", "optimizer_not_leaf", "error"), SO
    ),
    sick=NET + "loss = net(x).pow(2).mean()\nloss.backward()\nloss.backward()",
    innocent=(NET + "loss = net(x).pow(2).mean()\nloss.backward(retain_graph=True)\nloss.backward()",),
)
