"""explain follows functions that have no def of their own where they are called: lambdas, what functions return; and says
which lines may have cut a path where it cannot.
"""

from __future__ import annotations

import pytest

from .explained import kinds, lines
from .test_torch import asked

pytestmark = pytest.mark.torch
W = "w = torch.ones(3, requires_grad=True)\nb = torch.ones(3, requires_grad=True)\n"
NET = "net = torch.nn.Linear(3, 1)\nb = torch.ones(1, requires_grad=True)\nones = torch.ones(2, 3)\n"
END = "\nloss.backward()"

CUT = {  # program, what is asked, kind, line
    "a lambda with a name": (W + "f = lambda t: t.detach() * 2\nloss = (f(w) + b).sum()", "w", "cut_detach", 3),
    "a function that a function returned": (
        W + "def make():\n    def run(t):\n        return t.data * 2\n    return run\nrun = make()\nloss = (run(w) + b).sum()",
        "w", "cut_data", 5,
    ),
    "one of several that it returned": (
        W + "def make():\n    def other(t):\n        return t.detach()\n    def run(t):\n        return t.data * 2\n"
        "    return other, run\nother, run = make()\nloss = (run(w) + b).sum()", "w", "cut_data", 7,
    ),
    "in place": (W + "h = w * 2\nh.detach_()\nloss = (h + b).sum()", "w", "cut_detach", 4),
    "all parameters": (
        NET + "from torch.func import functional_call\nparams = {k: v.detach() for k, v in net.named_parameters()}\n"
        "loss = (functional_call(net, params, ones) * b).sum()", "net.weight", "cut_detach", 5,
    ),
    "a mode that the run decides": (
        NET + "for phase in ['val']:\n    with torch.set_grad_enabled(phase == 'train'):\n        h = net(ones)\n"
        "    loss = (h * b).sum()", "net.weight", "cut_mode", 6,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CUT)
def test_a_cut_is_found_behind_what_is_called(case: str) -> None:
    program, ask, kind, line = CUT[case]
    answer = asked(program + END, ask)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer


def test_a_tensor_that_was_detached_in_place_later_is_not_cut() -> None:
    answer = asked(W + "h = w * 2\nloss = (h + b).sum()\nh.detach_()" + END, "w")
    assert "cut_detach" not in kinds(answer), answer


CANDIDATES = {  # the lines that are named
    "a hook": (NET + "net.register_forward_hook(lambda m, i, o: o.detach())\nloss = (net(ones) * b).sum()", [None, 4]),
    "a hook that is a function": (
        NET + "def hook(m, i, o):\n    return o.detach()\nnet.register_forward_hook(hook)\n"
        "loss = (net(ones) * b).sum()", [None, 5],
    ),
    "a function in a table": (
        NET + "def cut(t):\n    return t.detach()\ntable = {'cut': cut}\nloss = (table['cut'](net(ones)) * b).sum()", [None, 5],
    ),
    "for people to read": (
        NET + "log = lambda t: print(t.item())\nseen = [lambda t: print(t.detach())]\n"
        "h = torch.ones(1)\nloss = (h * b).sum()", [None],
    ),
    "a function that is called here": (NET + "def cut(t):\n    return t.detach()\nh = cut(b)\nloss = (b * 2).sum()", [None]),
}  # fmt: skip


@pytest.mark.parametrize("case", CANDIDATES)
def test_lines_that_may_have_cut_are_named_where_the_code_does_not_show_the_call(case: str) -> None:
    program, named = CANDIDATES[case]
    answer = asked(program + END, "net.weight")
    assert kinds(answer)[0] == "unreached" and lines(answer) == named, answer
