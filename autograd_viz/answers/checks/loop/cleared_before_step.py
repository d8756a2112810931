"""zero_grad() between backward() and step(): the step has nothing to go by."""

from __future__ import annotations

from ...causes.cause import Cause
from ...causes.missing import missing
from ...causes.question import Question
from ..check import LOOP, LOSS, OPT, SO, Check


def when(question: Question) -> list[Cause]:
    """Its gradient was cleared after the pass, and a step came after that."""
    return [c for c in question.once(missing) if c.kind == "cleared_before_step"]


CHECK = Check(
    code="AV401",
    name="cleared-before-step",
    when=when,
    kinds={"cleared_before_step": SO},
    sick=OPT + f"for _ in range(3):\n    {LOSS}    loss.backward()\n    opt.zero_grad()\n    opt.step()",
    innocent=(OPT + LOOP, OPT + f"for _ in range(3):\n    {LOSS}    loss.backward()\n    opt.step()\n    opt.zero_grad()"),
)
