"""Passes have run, and the optimizer never moves the parameter."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause, cause_of
from ...causes.question import Question
from ..check import ASKED, LOOP, LOSS, MAY, OPT, Check


def when(question: Question) -> Iterator[Cause]:
    """Its learning rate is 0, or step() has never run."""
    q = question
    if q.optimizers and all(h.rate == 0 for h in q.optimizers):
        yield cause_of("rate_zero", optimizer=q.optimizers[0].kind)
    elif len(q.passes) > 1 and q.optimizers and not any(h.steps for h in q.optimizers):
        yield cause_of("no_step", q.last, optimizer=q.optimizers[0].kind)


CHECK = Check(
    code="AV403",
    name="never-stepped",
    when=when,
    kinds={"rate_zero": ASKED, "no_step": MAY},  # a schedule may end at 0
    sick=OPT + f"for _ in range(3):\n    opt.zero_grad()\n    {LOSS}    loss.backward()",
    innocent=(
        OPT + LOOP,
        OPT + LOSS + "loss.backward()\nopt.step()\nopt.zero_grad()\n" + LOSS + "loss.backward()",
        OPT.replace("opt = ", "") + f"for _ in range(3):\n    {LOSS}    loss.backward()\n"
        "    for p in net.parameters():\n        p.data -= 0.1 * p.grad\n        p.grad = None",
    ),
)
