"""explain, where only the code can tell: it is read into the functions, methods and parts of models that it calls."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .explained import kinds, lines  # noqa: E402
from .test_torch import asked  # noqa: E402

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
    "a name that is the caller's too": ("data = x * 2; h = data.detach()", "net.enc.l.weight", "no method of Net uses net.enc"),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_FORWARD)
def test_a_cut_in_forward_is_found_for_the_part_that_it_cuts_off(case: str) -> None:
    body, ask, words = IN_FORWARD[case]
    answer = asked(NET.format(body=body), ask)
    assert words in str(answer) and (
        body.strip()[-20:] in str(answer) or "detach" in words or "No path" in words or "no method" in words
    ), answer


TWO_PARTS = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.aux = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    def forward(self, x):
        return self.a(x)
net, x = Net(), torch.ones(1)
"""
# program, what is asked, kind of the first cause, line that it names
READ = {
    "a mode by a condition": (
        "phase = 'train'\nwith torch.set_grad_enabled(phase == 'train'):\n    x = torch.ones(2)", "x", "not_asked", 3,
    ),
    "sample": (
        "p = torch.ones(2, requires_grad=True)\nz = torch.distributions.Normal(p, 1.0).sample()\n"
        "w = torch.ones(2, requires_grad=True)\nloss = (z * w).sum()\nloss.backward()", "p", "cut_sample", 2,
    ),
    "a list of tensors": (
        "a = torch.tensor(1.0, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\nR = torch.tensor([a, -a])\n"
        "loss = (R * w).sum()\nloss.backward()", "a", "cut_new_tensor", 3,
    ),
    "zero_grad before the pass": (
        "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nopt.zero_grad()\nloss = (w * w).sum()\n"
        "g, = torch.autograd.grad(loss, w)", "w", "left_out_at", 5,
    ),
    "retain_grad after the pass": (
        "x = torch.ones(2, requires_grad=True)\nh = x * 2\nloss = (h * h).sum()\nloss.backward()\nh.retain_grad()", "h",
        "retained_late", 5,
    ),
    "computed of what does not require grad": (
        "a = torch.ones(2)\nloss = (a * 2).sum()", "loss", "computed", 2,
    ),
    "grad mode left off": (
        "w = torch.ones(2, requires_grad=True)\nmode = torch.no_grad()\nmode.__enter__()\nloss = (w * 2).sum()", "loss",
        "mode_off", 4,
    ),
    "one of two branches": (
        "w = torch.ones(2, requires_grad=True)\nflag = True\nif flag:\n    t = torch.zeros(2)\nelse:\n    t = w.detach()\n"
        "v = torch.ones(2, requires_grad=True)\nloss = (v * t).sum()\nloss.backward()", "w", "cut_maybe", 6,
    ),
    "no scalar": ("w = torch.ones(2, requires_grad=True)\ny = w * w", "w", "not_run_array", None),
    "a pass in a function": (
        "w = torch.ones(2, requires_grad=True)\ndef train():\n    (w * w).sum().backward()\ntrain()", "w", "no_graph", None,
    ),
    "a forward pass after the pass": (
        "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nloss = (w * w).sum()", "w",
        "grad_before_or_kept", 4,
    ),
    "a nan weight": (
        "w = torch.tensor([1.0, float('nan')], requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
        "loss = (w * b).sum()\nloss.backward()", "b", "given", None,
    ),
    "an unused part of a model that ran under no_grad too": (
        TWO_PARTS + "with torch.no_grad():\n    target = net(x)\nloss = (net(x * 0) - target - 1).sum()\nloss.backward()",
        "net.aux.weight", "part_unused", None,
    ),
    "another optimizer's step": (
        "a, b = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)\nopt_a = torch.optim.SGD(a.parameters(), lr=0.1)\n"
        "opt_b = torch.optim.SGD(b.parameters(), lr=0.1)\nx = torch.ones(1, requires_grad=True)\nloss = (b(a(x)) ** 2).sum()\n"
        "loss.backward(retain_graph=True)\nopt_a.step()\nopt_b.step()\ntry:\n    loss.backward()\nexcept RuntimeError as e:\n"
        "    error = e", "error", "modified_by_step", 8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_what_the_code_says_is_read_with_care(case: str) -> None:
    program, ask, kind, line = READ[case]
    with torch.enable_grad():  # a program may leave the mode off
        answer = asked(program, ask)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer


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


# program (its last line is the question's), what is asked, kinds, line
MADE = {
    "at the end of the turn before": (
        "w = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    if i == 1:\n        asked = w\n        break\n"
        "    (w * 2).sum().backward()\n    with torch.no_grad():\n        w = w - w.grad\n", "w", "made_update", 8,
    ),
    "by an op in a loop": (
        "h = torch.zeros(2)\nw = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    if i == 1:\n        break\n"
        "    h = torch.tanh(h + w)", "h", "not_leaf", 6,
    ),
    "an attribute of a module": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = torch.nn.Parameter(torch.ones(2)).double()\nnet = Net()\nnet.w.sum().backward()",
        "net.w", "leaf_lost", 4,
    ),
    "an attribute of an object": (
        "class State:\n    def __init__(self):\n        self.w = torch.ones(2, requires_grad=True)\n    def move(self):\n"
        "        self.w = self.w * 2\ns = State()\ns.move()", "s.w", "leaf_lost", 5,
    ),
    "an attribute under another name": (
        "class State:\n    def __init__(self):\n        self.w = torch.ones(2, requires_grad=True) * 2\ns = State()\nv = s.w",
        "v", "leaf_lost", 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MADE)
def test_the_line_that_made_a_tensor_is_one_that_can_have(case: str) -> None:
    program, ask, kind, line = MADE[case]
    answer = asked(program, ask)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer


def test_what_objects_hold_has_a_name_and_is_looked_at_for_the_loss() -> None:
    program = """
class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(2, 1)
    def run(self):
        self.loss = self.model(torch.ones(3, 2)).pow(2).mean()
        self.loss.backward()
t = Trainer()
t.run()
t.model.zero_grad()
"""
    answer = asked(program, "t.model.weight")
    assert (kinds(answer), lines(answer)) == (["cleared_by"], [9]) and "t.model.weight.grad is None" in str(answer)


def test_a_parameter_made_by_keyword_and_a_leaf_of_rows_in_csr_are_explained() -> None:
    program = "from torch.nn import Parameter\nw, v = (torch.ones(2, requires_grad=True) for _ in range(2))\n"
    answer = asked(program + "p = Parameter(data=w * 2)\nloss = (p * v).sum()\nloss.backward()", "w, loss")
    assert "w.grad is None" in str(answer)
    assert "m.grad is None" in str(asked("m = torch.eye(2).to_sparse_csr().requires_grad_()", "m"))


# program, what is asked, kind of the first cause
CAREFUL = {
    "a long sum above": ("x = torch.ones(2)\nn = " + " + ".join(["1"] * 400) + "\ny = x * 2", "y", "computed"),
    "a switch that did not run": (
        "x = torch.ones(2)\nif x.sum() < 0:\n    torch.set_grad_enabled(False)\nh = x * 2", "h", "computed",
    ),
    "zeros that were kept": (
        "w, v = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))\nopt = torch.optim.SGD([w, v], lr=0.1)\n"
        "loss = (w * v).sum()\nloss.backward(inputs=[v])\nopt.zero_grad(set_to_none=False)", "w", "left_out_at",
    ),
    "inputs by another name": (
        "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nparams = [w]\nloss.backward(inputs=params)\n"
        "for p in params:\n    p.grad = None", "w", "left_out_or_cleared",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CAREFUL)
def test_lines_are_not_read_for_what_they_do_not_say(case: str) -> None:
    program, ask, kind = CAREFUL[case]
    answer = asked(program, ask)
    assert kinds(answer)[0] == kind, answer
