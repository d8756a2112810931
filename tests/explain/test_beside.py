"""explain, where a tensor had no part in the loss, or more than one pass brought what stands in its grad."""

from __future__ import annotations

import pytest

from .explained import kinds, lines
from .test_torch import asked

pytestmark = pytest.mark.torch
NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.extra = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        {used}
        return self.a(x)
net = Net()
{run}
loss.backward()
"""
RUN = "loss = net(torch.ones(1, 2)).sum()"
PARTS = {  # a line of forward, how it is run, the kind, its line
    "not used": ("pass", RUN, "part_unused", None),
    "thrown away": ("self.extra(x)", RUN, "result_unused", 6),
    "under a name that nobody reads": ("y = self.extra(x)", RUN, "result_unused", 6),
    "recorded": (
        "y = self.extra(x)", "import autograd_viz as av\nwith av.record():\n    loss = net(torch.ones(1, 2)).sum()",
        "result_unused", 6,
    ),
    "used in a way that is not followed": ("y = [m(x) for m in self.children()]", RUN, "unreached", None),
    "used beside": ("pass", "layer = net.extra\n" + RUN, "unreached", None),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTS)
def test_a_layer_that_forward_does_not_use_is_told(case: str) -> None:
    used, run, kind, line = PARTS[case]
    answer = asked(NET.format(used=used, run=run), "net.extra.weight")
    assert (kinds(answer), lines(answer)) == ([kind], [line]), answer


COPIES = {
    "load_state_dict": "b = torch.nn.Linear(2, 1)\nb.load_state_dict(a.state_dict())",
    "copy_": "b = torch.nn.Linear(2, 1)\nwith torch.no_grad():\n    b.weight.copy_(a.weight)",
    "deepcopy": "import copy\nb = copy.deepcopy(a)",
}


@pytest.mark.parametrize("case", COPIES)
def test_a_copy_of_its_values_has_a_gradient_of_its_own(case: str) -> None:
    program = "a = torch.nn.Linear(2, 1)\n" + COPIES[case]
    answer = asked(program + "\nloss = b(torch.ones(1, 2)).sum()\nloss.backward()", "a.weight")
    assert kinds(answer) == ["copied"] and lines(answer) == [program.count("\n") + 1], answer


LOOP = (
    "x = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([x], lr=0.1)\nfor _ in range(3):\n    loss = (x * 2).sum()\n"
)


def test_a_loop_that_never_clears_a_grad_adds_up() -> None:
    answer = asked(LOOP + "    loss.backward()\n    opt.step()")
    assert kinds(answer) == ["came_from", "never_cleared"] and lines(answer)[1] == 5, answer


@pytest.mark.parametrize("clears", ["    opt.zero_grad()\n", "    x.grad = None\n"])
def test_a_loop_that_clears_it_is_not_told_so(clears: str) -> None:
    assert kinds(asked(LOOP + clears + "    loss.backward()\n    opt.step()")) == ["came_from"]


SINGLE = {
    "softmax": "x = torch.randn(4, 1, requires_grad=True)\nloss = (torch.softmax(x, 1) * torch.randn(4, 1)).sum()\n",
    "the last dimension": "x = torch.randn(4, 1, requires_grad=True)\nloss = (torch.softmax(x, -1) ** 2).sum()\n",
    "cross entropy of one class": (
        "lin = torch.nn.Linear(3, 1)\nx = lin.weight\nloss = F.cross_entropy(lin(torch.randn(4, 3)), torch.zeros(4).long())\n"
    ),
}


@pytest.mark.parametrize("case", SINGLE)
def test_a_softmax_of_one_element_has_no_gradient(case: str) -> None:
    answer = asked(SINGLE[case] + "loss.backward()")
    assert kinds(answer) == ["zero_single"] and "dimension of size 1" in str(answer), answer
