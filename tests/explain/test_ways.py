"""explain blames what cuts a path, and nothing that stands beside a path that goes on."""

from __future__ import annotations

import pytest

from .explained import kinds, lines, told
from .test_torch import asked

pytestmark = pytest.mark.torch
W = "w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nv = torch.ones(3, requires_grad=True)\n"
END = "\nloss.backward()"

CUT = {  # program, kind of the only cause, its line
    "a mask beside it": (
        "def stream(a):\n    yield torch.tensor(a.tolist())\n" + W + "z = w * 1\nm = (z > 0).float()\nz = z * (m + 1)\n"
        "loss = (next(stream(z)) * v).sum()", "cut_item", 2,
    ),
    "a factor beside it": (
        W + "z = w * 2\nsc = z.detach().abs().max()\nz = z / (sc + 1)\nkept = z.data\nloss = (kept * v).sum()", "cut_data", 6,
    ),
    "a straight-through estimator before it": (
        W + "h = w * 2\nh = h + (h.round() - h).detach()\nloss = (h.detach() * v).sum()", "cut_detach", 5,
    ),
    "a method of the user's that is called so": (
        "class Helper:\n    def detach(self, a):\n        return a * 2\n    def run(self, a):\n"
        "        return a.sum().item() * 2\n" + W + "hp = Helper()\nk = hp.detach(w)\n"
        "loss = (hp.run(k) * v).sum()", "cut_item", 5,
    ),
    "an argument that a function does not use": (
        "def second(a, b):\n    return b.data\n" + W + "loss = (second(w.detach(), w) * v).sum()", "cut_data", 2,
    ),
    "a parameter that is given twice": (
        "def net(h):\n    h = h * 2\n    h = h * 3\n    return h\n" + W + "loss = (net(w.detach()) * v).sum()", "cut_detach", 7,
    ),
    "one of what a loop goes through": (
        W + "for a, f in zip([w], [1.0]):\n    k = a.detach() * f\nloss = (k * v).sum()", "cut_detach", 4,
    ),
    "a field": (
        "from collections import namedtuple\nOut = namedtuple('Out', 'h c')\ndef enc(t):\n    return Out(t.detach() * 2, t)\n"
        + W + "h = enc(w).h\nloss = (h * v).sum()", "cut_detach", 4,
    ),
    "a field of a class": (
        "from dataclasses import dataclass\n@dataclass\nclass Out:\n    h: object\n    c: object\n"
        "def enc(t):\n    return Out(t.data * 2, t)\n" + W + "loss = (enc(w).h * v).sum()", "cut_data", 7,
    ),
    "the second of two that are returned": (
        "a, c = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)\ndef net(s):\n    return a(s), c(s)\n"
        "p, v = net(torch.ones(1, 3))\nw = c.weight\nloss = (p[:, :1] * v.detach()).mean()", "cut_detach", 6,
    ),
    "a field of what a function keeps": (
        "from dataclasses import dataclass\n@dataclass\nclass Out:\n    logits: object\n    hidden: object\n"
        "body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)\ndef model(x):\n    h = body(x)\n"
        "    out = Out(logits=head(h.detach()), hidden=h)\n    return out\n"
        "out = model(torch.ones(1, 3))\nw = body.weight\nloss = out.logits.sum()", "cut_detach", 9,
    ),
    "a method of an object that was just made": (
        "class Store:\n    def __init__(self, t):\n        self.t = t\n    def sample(self):\n        return self.t * 2\n"
        + W + "loss = (Store(w).sample().detach() * v).sum()", "cut_detach", 8,
    ),
    "a layer whose result an op with a known line reads": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.one, self.two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)\n        self.k = torch.nn.Linear(3, 3)\n"
        "    def forward(self, x):\n        h = cut(self.one(x))\n        att = torch.softmax(h * self.k(x), -1)\n"
        "        return self.two(att) + self.two(x)\n"
        "def cut(x):\n    x = x.argmax(-1, keepdim=True).float().expand(-1, 3)\n    return x\n"
        "net = Net()\nw = net.one.weight\nloss = net(torch.ones(2, 3)).sum()", "cut_integer", 11,
    ),
    "the values of a table": (
        W + "p = {k: t.detach() for k, t in {'w': w}.items()}\nloss = (p['w'] * v).sum()", "cut_detach", 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CUT)
def test_what_cuts_is_told_from_what_stands_beside(case: str) -> None:
    program, kind, line = CUT[case]
    answer = asked(program + END, "w")
    assert (kinds(answer), lines(answer)) == ([kind], [line]), answer


def test_a_mask_beside_a_recorded_path_cuts_nothing() -> None:
    program = W + "z = w * 2\nm = (z > 0).float()\nz = z * (m + 1)\nloss = (z.detach() * v).sum()"
    answer = told(program + END, "w")
    assert (kinds(answer), lines(answer)) == (["cut_detach"], [6]), answer


def test_both_branches_may_have_cut() -> None:
    answer = asked(W + "if v.dim() > 9:\n    h = w.data\nelse:\n    h = w.detach()\nloss = (h * v).sum()" + END, "w")
    assert (kinds(answer), lines(answer)) == (["cut_maybe", "cut_maybe_too"], [4, 6]), answer


def test_the_test_of_a_branch_is_no_way() -> None:
    answer = asked(W + "h = v if (w > 0).any() else v * 2\nloss = h.sum()" + END, "w")
    assert kinds(answer) == ["unreached"], answer


def test_a_cut_beside_a_way_of_which_nothing_is_seen_is_told_as_one_of_two() -> None:
    answer = asked(W + "z = w * (w.detach() + 1)\nloss = (getattr(z, 'detach')() * v).sum()" + END, "w, loss")
    assert (kinds(answer), lines(answer)) == (["unreached", "cut_partly"], [None, 3]), answer


FROM_RESULT = {  # the cut that is told of a loss without a graph
    "argmax": (W + "pred = w.argmax().float()\nloss = (pred - 1) ** 2", "made_integer", 3),
    "detach": (W + "h = (w * 2).detach()\nloss = h.sum() * 2", "made_detach", 3),
    "a metric beside": (W + "a = torch.ones(3)\nm = w.detach()\nloss = (a * 2).sum()", None, None),
}  # fmt: skip


@pytest.mark.parametrize("case", FROM_RESULT)
def test_a_loss_without_a_graph_is_told_what_cut_it_off(case: str) -> None:
    program, kind, line = FROM_RESULT[case]
    answer = asked(program, "loss")
    found = [(c.kind, c.source.line) for c in answer.causes if c.kind != "computed" and c.source is not None]
    assert found == ([] if kind is None else [(kind, line)]), answer
