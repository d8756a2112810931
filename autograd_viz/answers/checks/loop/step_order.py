"""step() in the wrong place: before the pass of its iteration; or skipped by a scaler."""

from __future__ import annotations

from collections.abc import Iterator

from ...causes.cause import Cause, cause_of
from ...causes.question import Question
from ..check import ASKED, LOOP, LOSS, MAY, OPT, Check


def when(question: Question) -> Iterator[Cause]:
    """No step has moved it since the pass."""
    q, last = question, question.last
    steps = sorted((s for h in q.optimizers for s in h.steps), key=lambda s: s.number)
    if last is None or not q.optimizers:
        return
    checks = [e for e in q.history.scalers if not steps or e.number > steps[-1].number]
    if checks and checks[-1].detail is not None and float(checks[-1].detail.sum()) > 0:  # it found an inf
        yield cause_of("skipped", checks[-1])
    elif steps and steps[-1].number < last.number and len(steps) == len(q.passes) and steps[0].number < q.passes[0].number:
        yield cause_of("step_first", steps[-1], **{"pass": last.source})


CHECK = Check(
    code="AV404",
    name="step-before-backward",
    when=when,
    kinds={"step_first": MAY, "skipped": ASKED},
    sick=OPT + f"for _ in range(3):\n    opt.step()\n    opt.zero_grad()\n    {LOSS}    loss.backward()",
    innocent=(
        OPT + LOOP,
        OPT + LOOP + "opt.zero_grad()\n" + LOSS + "loss.backward()",  # the last gradients are looked at
        OPT + "def closure():\n    opt.zero_grad()\n    "
        f"{LOSS}    loss.backward()\n    return loss\nfor _ in range(3):\n    opt.step(closure)",
    ),
)
