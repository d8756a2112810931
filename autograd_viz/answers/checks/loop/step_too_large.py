"""A learning rate at which each step moves the weights by as much as they are."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....graph.text import number_text
from ...causes.cause import Cause, cause_of
from ...causes.question import Question
from ..check import LOOP, MAY, OPT, Check

SETTLED = 3  # steps: weights that begin at zero have grown by then


def when(question: Question) -> Iterator[Cause]:
    """The norm of a matrix against that of its next step, which is exact for plain SGD, and about so for Adam."""
    for holder in question.optimizers if question.tensor.ndim > 1 else ():
        own, grad = question.history.norms(question.tensor)
        size = math.sqrt(question.tensor.numel())
        step = {"SGD": grad, "Adam": size, "AdamW": size}.get(holder.kind, 0.0) * (holder.rate or 0.0)
        if len(holder.steps) >= SETTLED and 0 < own <= step < math.inf:
            said = {"rate": number_text(holder.rate or 0.0), "step": number_text(step), "own": number_text(own)}
            yield cause_of("step_too_large", holder.steps[-1], optimizer=holder.kind, **said)


CHECK = Check(
    code="AV408",
    name="step-too-large",
    when=when,
    kinds={"step_too_large": MAY},
    sick=OPT.replace("opt =", "net = torch.nn.Linear(4, 1)\nopt =").replace("0.1", "10.0") + LOOP,
    innocent=(
        OPT + LOOP,
        OPT.replace("SGD", "Adam") + LOOP,
        OPT + "for p in net.parameters():\n    torch.nn.init.zeros_(p)\n" + LOOP,
    ),
)
