"""explain, where only the code can tell: it is read into the functions, methods and parts of models that it calls."""

from __future__ import annotations

import pytest

from .explained import kinds, lines
from .test_explain_torch import asked

pytestmark = pytest.mark.torch

NET = """
class Enc(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1, 1)
    def forward(self, x):
        return self.l(x)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = Enc(), torch.nn.Linear(1, 1)
        self.part = Enc().double().float()
    def forward(self, x):
        {body}
        return self.dec(h)
    def features(self, x):
        z = self.part(x)
        return z.detach()
net = Net()
data = torch.ones(2, 1)
loss = net(data).sum()
loss.backward()
"""
IN_FORWARD = {  # the body of forward, what is asked, and what the answer names
    "a part under no_grad": ("with torch.no_grad(): h = self.enc(x)", "net.enc.l.weight", "cut by no_grad()"),
    "another name of the whole": ("n = self; h = n.enc(x).detach()", "net.enc.l.weight", "cut by detach()"),
    "another part of the whole": ("n = self; h = n.enc(x).detach()", "net.part.l.weight", "No path leads"),
    "another part": ("with torch.no_grad(): h = self.enc(x)", "net.part.l.weight", "No path leads"),
    "a method": ("h = self.features(x)", "net.part.l.bias", "cut by detach()"),
    "a part of a part": ("h = self.enc.l(x).data", "net.enc.l.weight", "cut by .data"),
    "another name": ("e = self.enc; h = e(x).detach()", "net.enc.l.weight", "cut by detach()"),
    "a loop over parts": (
        "\n        for e in [self.enc, self.part]:\n            with torch.no_grad(): h = e(x)", "net.part.l.weight",
        "cut by no_grad()",
    ),
    "a name that is the caller's too": ("data = x * 2; h = data.detach()", "net.enc.l.weight", "No path leads"),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_FORWARD)
def test_a_cut_in_forward_is_found_for_the_part_that_it_cuts_off(case: str) -> None:
    body, ask, words = IN_FORWARD[case]
    answer = asked(NET.format(body=body), ask)
    assert words in str(answer) and (body.strip()[-20:] in str(answer) or "detach" in words or "No path" in words), answer


FREEZE = """
def freeze(m):
    for p in m.parameters():
        p.requires_grad = False
lin = torch.nn.Linear(1, 1)
"""
CLASS = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(1, 1)
"""
FREEZING = {  # the code, what is asked, and the line that is named
    "in a function": (
        FREEZE + "freeze(lin)", "lin.weight", 3,
    ),
    "in a function, another": (
        FREEZE + "other = torch.nn.Linear(1, 1)\nfreeze(other)\nlin.weight.requires_grad_(False)", "lin.weight", 7,
    ),
    "in a function that is not called": (
        "lin = torch.nn.Linear(1, 1)\ndef freeze():\n    lin.weight.requires_grad = False\nlin.requires_grad_(False)\ny = 1",
        "lin.weight", 4,
    ),
    "in a method": (
        CLASS + "    def freeze(self):\n        for n, p in self.a.named_parameters():\n            p.requires_grad_(False)\n"
        "net = Net()\nnet.freeze()", "net.a.bias", 7,
    ),
    "where it is made": (
        CLASS + "        self.a.weight.requires_grad = False\nnet = Net().to('cpu')", "net.a.weight", 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FREEZING)
def test_the_line_is_named_that_switched_requires_grad_off(case: str) -> None:
    program, ask, line = FREEZING[case]
    answer = asked(program, ask)
    assert (kinds(answer), lines(answer)) == (["switched_off"], [line]), answer
