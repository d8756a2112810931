"""nan or inf in a gradient: the op that made it, forward or backward."""

from __future__ import annotations

from ...causes.bad_numbers import bad_causes
from ...causes.cause import Cause
from ...causes.facts import Facts
from ..check import ASKED, MAY, SO, Check

ROOT = "net = torch.nn.Linear(4, 2)\na, b = torch.randn(6, 4), torch.randn(6, 4)\n"
DISTANCE, PASS = ".pow(2).sum(1)", "\nloss.backward()"


def when(numbers: Facts) -> list[Cause]:
    """Where it came from."""
    return bad_causes(numbers)


CHECK = Check(
    code="AV301",
    name="not-finite",
    when=when,
    kinds={
        **dict.fromkeys(
            ("born_*", "forward_*", "given*", "diverged", "nan_of_inf", "inf_to_nan", "zero_times_inf", "loss_bad*"), SO
        ),
        "bad_*": MAY,
        "changed_since": ASKED,
    },
    sick=f"{ROOT}loss = (net(a) - net(a.clone())){DISTANCE}.sqrt().mean(){PASS}",
    innocent=(
        f"{ROOT}loss = (net(a) - net(b)){DISTANCE}.sqrt().mean(){PASS}",
        f"{ROOT}loss = ((net(a) - net(a.clone())){DISTANCE} + 1e-8).sqrt().mean(){PASS}",
        ROOT + "loss = torch.softmax(net(a).masked_fill(torch.tensor([True, False]), float('-inf')), 1).pow(2).sum()" + PASS,
    ),
)
