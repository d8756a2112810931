"""A parameter that gets no gradient any more, and that its optimizer still moves, as zero is a gradient too."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause, cause_of
from ...causes.question import Question
from ..check import LOSS, NET, SO, Check

ADAM = NET + "opt = torch.optim.Adam(net.parameters(), lr=0.1)\n"
TURN = f"    {LOSS}    loss.backward()\n    opt.step()\n"
FROZEN = "net[0].requires_grad_(False)\n"


def when(question: Question) -> Iterator[Cause]:
    """It was frozen, and its optimizer has stepped since."""
    off = [] if question.tensor.requires_grad or question.state != "zero" else question.events("switched_off")
    for holder in question.optimizers if off else ():
        if holder.momentum and holder.rate and any(s.number > off[-1].number for s in holder.steps):
            yield cause_of("moved_anyway", off[-1], optimizer=holder.kind)


CHECK = Check(
    code="AV406",
    name="moved-without-gradient",
    when=when,
    kinds={"moved_anyway": SO},
    sick=f"{ADAM}for i in range(4):\n    opt.zero_grad(set_to_none=False)\n{TURN}    if i == 1:\n        {FROZEN}",
    innocent=(
        f"{ADAM}for i in range(4):\n    opt.zero_grad()\n{TURN}    if i == 1:\n        {FROZEN}",
        f"{ADAM}{FROZEN}for i in range(4):\n    opt.zero_grad(set_to_none=False)\n{TURN}",
    ),
)
