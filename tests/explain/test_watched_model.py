"""`av.watch(model)` alone: what stands outside of the model is recorded, too, so checks of the loss and of the loop answer."""

from __future__ import annotations

import re

import pytest

from .checked import found
from .test_checks import TOLD

pytestmark = pytest.mark.torch
# the loss; an optimizer; the order of calls; weights that move wrongly
CODES = ("AV205", "AV240", "AV401", "AV402", "AV404", "AV408", "AV411", "AV412", "AV413", "AV415")
IN_LOOPS = {code: [p for p in TOLD[code][4] if re.search(r"^net = .*\nfor ", p, re.S)] for code in CODES}


def codes_of(program: str) -> list[str]:
    """What checks find if a line before the loop watches the model."""
    before, loop = program.split("\nfor ", 1)
    watched = f"{before}\nrun = av.watch(net, stop=False)\nfor {loop}"
    return [f.code for f in found(watched, "torch", is_watched=False)]


@pytest.mark.parametrize("code", CODES)
def test_a_fault_outside_of_the_model_is_told(code: str) -> None:
    assert code in codes_of(TOLD[code][3][0])


@pytest.mark.parametrize(
    ("code", "program"), [pytest.param(c, p, id=f"{c} {i}") for c, t in IN_LOOPS.items() for i, p in enumerate(t)]
)
def test_its_twin_is_not(code: str, program: str) -> None:
    assert code not in codes_of(program)


def test_a_bias_of_which_the_loss_has_only_the_slope_is_not_accused() -> None:
    assert [codes_of(program) for program in IN_LOOPS["AV240"]] == [[], []]


PARTS = """
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
opt = torch.optim.SGD(net.parameters(), lr=0.1){0}
for _ in range(3):
    net(torch.randn(6, 4)).pow(2).sum().backward()
"""


LATER = """
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
net[0].requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(6):
    {0}
    loss = torch.nn.functional.cross_entropy(net(torch.randn(9, 4)), torch.arange(9) % 3)
    loss.backward()
    opt.step()
    opt.zero_grad()
"""


@pytest.mark.parametrize("line", ["net[0].requires_grad_(i > 2)", "if i == 3: net[2] = torch.nn.Linear(8, 3)"])
def test_parameters_that_learn_later_are_not_said_to_be_unused(line: str) -> None:
    assert not {"AV101", "AV102"} & {*codes_of(LATER.format(line))}


INSIDE = """
class Net(torch.nn.Linear):
    def forward(self, x):
        loss = super().forward(x).pow(2).mean()
        loss.backward()
        return loss.detach()
net = Net(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(6):
    opt.zero_grad()
    net(torch.randn(9, 4))
    opt.step()
"""


def test_a_pass_inside_of_the_model_is_not_missed() -> None:
    assert codes_of(INSIDE) == []


def test_a_model_in_evaluation_mode_is_told_and_a_part_of_it_is_not() -> None:
    assert "AV501" in codes_of(PARTS.format("; net.eval()"))
    assert "AV501" not in codes_of(PARTS.format("; net[1].eval()"))
