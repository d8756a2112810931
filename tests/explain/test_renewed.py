"""A pass that went elsewhere: from another loss, before the tensor was made, or after another had taken its place."""

from __future__ import annotations

import pytest

from .explained import kinds, lines, told

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.head = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    def forward(self, x):
        return self.head(self.fc(x))
net = Net()
x = torch.ones(2, 1)
"""
PASS = "loss = net(x).sum()\nloss.backward()\n"
LOSSES = "h = net.fc(x)\nmain = h.pow(2).sum()\naux = net.head(h.detach()).pow(2).sum()\n"
CASES = {  # program, what is asked, kind, line
    "the loss was left out of the total": (LOSSES + "total = main\ntotal.backward()\n", "net.head.weight", "not_run_other", 13),
    "the total had it": (LOSSES + "total = main + aux\ntotal.backward()\nnet.zero_grad()\n", "net.head.weight", None, None),
    "the total had it, and kept its graph": (
        LOSSES + "total = main + aux\ntotal.backward(retain_graph=True)\nnet.zero_grad()\ndel total\n", "net.head.weight",
        None, None,
    ),
    "the pass came before the loss": (
        "b = torch.ones(1, requires_grad=True)\nother = (b * b).sum()\nother.backward()\nloss = net(x).sum()\n",
        "net.fc.weight", "not_run", None,
    ),
    "the pass may not have been made": (
        LOSSES + "if len(x) > 5:\n    main.backward()\n", "net.head.weight", "not_run", None,
    ),
    "a part made after the pass": (PASS + "net.fc = torch.nn.Linear(1, 1)\n", "net.fc.weight", "made_after", 11),
    "a model made after the pass": (PASS + "net = Net()\n", "net.fc.weight", "made_after", 11),
    "another part": (PASS + "net.fc = torch.nn.Linear(1, 1)\nnet.head.weight.grad = None\n", "net.head.weight", None, None),
    "perhaps made after the pass": (
        PASS + "net.fc.weight.grad = None\nif len(x) > 5:\n    net.fc = torch.nn.Linear(1, 1)\n", "net.fc.weight", None, None,
    ),
    "wrapped after the pass": (
        PASS + "net.zero_grad()\nnet = torch.nn.Sequential(net)\n", "net[0].fc.weight", None, None,
    ),
    "replaced before the pass": (
        "old = net.fc.weight\nnet.fc = torch.nn.Linear(1, 1)\n" + PASS, "old", "replaced", 10,
    ),
    "replaced after the pass": (
        "old = net.fc.weight\n" + PASS + "net.fc = torch.nn.Linear(1, 1)\nold.grad = None\n", "old", None, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("whose", ["core", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("case", CASES)
def test_a_pass_that_went_elsewhere_is_named(case: str, whose: str) -> None:
    program, ask, kind, line = CASES[case]
    others = {"torch": pytest.importorskip("torch")} if whose == "torch" else {}
    answer = told(NET + program, ask, **others)
    if kind is None:
        assert not {*kinds(answer)} & {"not_run_other", "made_after", "replaced"}, answer
    else:
        assert (kinds(answer), lines(answer)) == ([kind], [line]), answer
