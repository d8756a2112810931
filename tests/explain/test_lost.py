"""explain after passes that failed or never began, beside losses that are none, and in code that is the user's own."""

from __future__ import annotations

import pytest

from .explained import kinds, lines, told
from .test_torch import asked

pytestmark = pytest.mark.torch
W = "w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
FAILS = "try:\n    loss.backward()\nexcept RuntimeError:\n    pass\n"
CASES = {  # program, what is asked, kinds, line of the first
    "a loss after one that failed": (
        W + "loss = w.detach().sum()\n" + FAILS + "two = ((w - 1) ** 2).sum()\ntwo.backward()", "w", ["came_from"], 7,
    ),
    "a pass that raised": (
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, s):\n        ctx.save_for_backward(x)\n"
        "        return x * s\n    @staticmethod\n    def backward(ctx, g):\n        return g\n" + W
        + "loss = F.apply(w, 2.0).sum()\n" + FAILS, "w", ["raised"], 12,
    ),
    "grad() that raised": (
        W + "d = (w * w).sum()\ntry:\n    torch.autograd.grad(d, torch.ones(3), create_graph=True)\nexcept RuntimeError:\n"
        "    pass", "w", ["not_run_or_kept"], None,
    ),
    "the loss in a table": (
        W + "total = 0.0 + w.sum()\nout = {'loss': (w * 2).detach().sum()}\ntry:\n    out['loss'].backward()\n"
        "except RuntimeError:\n    pass", "w", ["cut_detach"], 3,
    ),
    "a method of the user's that is called sample": (
        "class Buffer:\n    def sample(self):\n        return torch.ones(2)\nbuf = Buffer()\nw = buf.sample()", "w",
        ["not_asked_or_cut"], 5,
    ),
    "a function that is handed on": (
        "def scalar(t):\n    return t.sum().item()\ndef run(w, reduce):\n    v = reduce(w * 2)\n"
        "    return torch.tensor(v) + 1\n" + W + "loss = run(w, scalar)", "w, loss", ["cut_item"], 2,
    ),
    "a list that was filled under no_grad": (
        W + "outs = []\nwith torch.no_grad():\n    for i in range(2):\n        outs.append((w * i).sum())\nloss = outs[0]",
        "loss", ["made_no_grad"], 5,
    ),
    "two ways, each with its cut": (
        W + "v = w * 2\na = v.detach().sum()\nb = (v.data ** 2).sum()\nc = torch.ones(1, requires_grad=True)\n"
        "loss = a + b + c.sum()\nloss.backward()", "w, loss", ["cut_detach", "cut_data"], 3,
    ),
    "a failed pass after a step": (
        "net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))\nx = torch.ones(2, 3)\n"
        "opt = torch.optim.SGD(net.parameters(), 0.1)\none, loss = (net(x) ** 2).mean(), net(x).abs().mean()\n"
        "one.backward()\nopt.step()\nopt.zero_grad()\n" + FAILS, "net[0].weight", ["modified_by_step"], 6,
    ),
    "a parameter that was changed under no_grad in a try": (
        "a, b = torch.nn.Linear(5, 3), torch.nn.Linear(3, 2)\nloss = (b(a(torch.ones(4, 5))) ** 2).sum()\ntry:\n"
        "    with torch.no_grad():\n        b.weight -= 0.1\nexcept ValueError:\n    pass\n" + FAILS,
        "a.weight", ["modified"], 5,
    ),
    "a loss that was detached after its pass": (
        W + "h = w * 2\nloss = (h * h).sum()\nloss.backward()\nloss = loss.detach()", "w", ["came_from"], 2,
    ),
    "an op of another loss": (
        "p = torch.tensor([0.0, 0.5], requires_grad=True)\nent = (p * torch.log(p)).sum()\nent.backward()\n"
        "w = torch.tensor([0.0, 2.0], requires_grad=True)\n(w / torch.tensor([0.0, 1.0])).nansum().backward()", "w",
        ["no_graph_of"], 5,
    ),
    "a pass from what has no name, beside another loss": (
        "u = torch.tensor([1.0], requires_grad=True)\nl = (u * 2).sum()\nl.backward()\n"
        + W + "(1 / w ** 2).sum().backward()", "w", ["no_graph_of"], 5,
    ),
    "retain_grad() of a new tensor": (
        W + "h = w * 2\ny = h * 2\ny.sum().backward()\nh = w * 3\nh.retain_grad()\ng = (h * 3).sum()", "h", ["not_run"], None,
    ),
    "zeros beside a loss that no pass went through": (
        "def step(w):\n    (w * 0).sum().backward()\n" + W + "step(w)\nval = w.clamp(-1, 1).sum()", "w", ["no_graph"], None,
    ),
    "nan beside a loss that no pass went through": (
        "w = torch.tensor([0.0, 1.0], requires_grad=True)\n(w / w).sum().backward()\nval = w.sqrt().sum()", "w, val",
        ["no_graph_of"], 2,
    ),
    "another optimizer's zero_grad": (
        "a, c = torch.nn.Linear(2, 1), torch.nn.Linear(1, 1)\n"
        "ao, co = torch.optim.SGD(a.parameters(), 0.1), torch.optim.SGD(c.parameters(), 0.1)\nx = torch.ones(4, 2)\n"
        "one = (c(a(x)) ** 2).mean()\none.backward()\ntwo = -c(a(x)).mean()\nao.zero_grad()\ntwo.backward()", "c.weight",
        ["paths"], None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_reason_is_found_where_much_is_lost(case: str) -> None:
    program, ask, expected, line = CASES[case]
    answer = asked(program, ask)
    assert (kinds(answer), lines(answer)[0]) == (expected, line), answer


def test_a_line_that_switches_grad_mode_back_cuts_nothing() -> None:
    answer = asked(
        "from contextlib import contextmanager\n@contextmanager\ndef frozen():\n    was = torch.is_grad_enabled()\n"
        "    torch.set_grad_enabled(False)\n    yield\n    torch.set_grad_enabled(was)\n"
        + W + "with frozen():\n    h = w.tanh()\nloss = h.sum()", "w, loss",
    )  # fmt: skip
    assert kinds(answer) == ["unreached"], answer


def test_a_factor_of_0_beside_a_dropout_is_told_as_the_factor() -> None:
    answer = told(W + "loss = F.dropout(w, 0.0).mul(0).sum()\nloss.backward()", "w", F=__import__("autograd_viz").nn.functional)
    assert kinds(answer) == ["zero_number"], answer


CORE = {
    "a pass over a shared trunk, in a function": (
        "def act(l):\n    l.backward()\n" + W + "h = w.tanh()\none = (h ** 2).sum()\nloss = (h ** 3).sum()\nact(one)\n"
        "try:\n    loss.backward()\nexcept RuntimeError as e:\n    error = e", "error", "freed", 2,
    ),
    "a late retain_grad() that is called unseen": (
        W + "h = w * 2\nloss = (h * h).sum()\nloss.backward()\nfor f in [h.retain_grad]:\n    f()", "h",
        "cleared_or_late", None,
    ),
    "what was detached in a loop": (
        "def net(w):\n    k = w * 2\n    for i in range(2):\n        k = k * 2\n        k.detach_()\n    return k\n" + W
        + "v = torch.ones(3, requires_grad=True)\nloss = (net(w) * v).sum()\nloss.backward()", "w, loss", "cut_detach", 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CORE)
def test_the_core_finds_the_reason_too(case: str) -> None:
    program, ask, kind, line = CORE[case]
    answer = told(program, ask)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer
