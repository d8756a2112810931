"""explain reads what names stand for as Python does: scopes, branches, comprehensions, the order on a line."""

from __future__ import annotations

import ast
import linecache

import pytest

from autograd_viz.reasons.defined import definition
from autograd_viz.reasons.parsed import tree_of

from .explained import X, kinds, lines
from .test_torch import asked

pytestmark = pytest.mark.torch
W = "w = torch.ones(3, requires_grad=True)\n"
END = "\nloss.backward()"

INNOCENT = {  # programs in which a cut stands that has nothing to do with x and its loss
    "a function of the same name in another": (
        "def double(v):\n    return v * 2\ndef other(x):\n    def double(v):\n        return v.detach()\n    return double(x)\n"
        + X + W + "loss = (double(x.sum() * 0) * w).sum() if False else double(w).sum()",
    ),
    "a parameter that hides a function": (
        "def cut(v):\n    return v.detach()\n" + X + W
        + "def run(cut):\n    return (cut(w) * 2).sum()\ndef take(x, cut=None):\n    return cut(x)\n"
        + "loss = run(lambda v: v) + take(x, lambda v: torch.zeros(3)).sum()",
    ),
    "the forward of a net beside a loss of PyTorch's": (
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x.detach()\n"
        + X + W + "crit = torch.nn.MSELoss()\nbox = [torch.Tensor.detach]\nloss = crit(box[0](x) + w, torch.zeros(3))",
    ),
    "a variable of a comprehension": (
        X + W + "loss = (w * sum(x.detach().sum() for x in [torch.ones(3)])).sum()",
    ),
    "the parameter of a lambda": (X + W + "f = lambda x: x.detach()\nloss = (w * f(w)).sum()",),
}  # fmt: skip


@pytest.mark.parametrize("case", INNOCENT)
def test_what_has_the_same_name_elsewhere_is_not_blamed(case: str) -> None:
    answer = asked(INNOCENT[case][0] + END)
    assert kinds(answer) == ["unreached"], answer


UNSURE = {  # the line of the cut, which may not have run
    "the other part of an expression": (X + W + "h = x.detach() if w.dim() > 9 else w\nloss = (h * w).sum()", 3),
    "behind an or": (X + W + "h = w.numel() or x.detach()\nloss = (w * h).sum()", 3),
    "a loop over nothing": (X + W + "h = w\nfor _ in range(0):\n    h = x.detach()\nloss = (h * w).sum()", 5),
    "another case": (
        X + W + "match w.dim():\n    case 1:\n        h = w\n    case _:\n        h = x.detach()\nloss = (h * w).sum()", 7,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNSURE)
def test_a_cut_that_may_not_have_run_is_not_told_as_sure(case: str) -> None:
    program, line = UNSURE[case]
    answer = asked(program + END.replace("\nloss", "\nif loss.grad_fn: loss"))
    assert (kinds(answer), lines(answer)) == (["cut_maybe"], [line]), answer


OTHER_BRANCH = """
x = torch.ones(3, requires_grad=True)
def clear(t):
    t.grad = None
def train():
    loss = (x * x).sum()
    loss.backward()
    clear(x)
    if loss > 9:
        x.grad = None
    else:
        return explain(x)
"""


def test_the_other_branch_of_an_if_around_the_question_did_not_run() -> None:
    answer = asked(OTHER_BRANCH, "x) if False else train(")
    assert kinds(answer) == ["left_out_or_cleared"], answer


SURE = {  # the line and the kind of a cut that is to be found
    "a line that begins with a percent sign": (
        X + W + "name = ('%s'\n    % 3)\nh = x.detach()\nloss = (h * w).sum()", "cut_detach", 5,
    ),
    "the last of several on a line": (X + W + "h = x.detach(); h = x * 2; h = h.data; loss = (h * w).sum()", "cut_data", 3),
    "the forward of a net that a library wraps": (
        "class Net(torch.nn.Module):\n    def forward(self, v):\n        return v.detach()\n"
        "model = torch.nn.DataParallel(Net())\n" + X + W + "loss = (model(x) * w).sum()", "cut_detach", 3,
    ),
    "a walrus": (X + W + "y = [h := x.detach()]\nloss = (h * w).sum()", "cut_detach", 3),
    "an element behind a comprehension": (
        "v = torch.ones(1, requires_grad=True)\nx = v\nxs = [x]\ndel v\n" + W
        + "loss = (w * sum(t.detach().sum() for t in xs)).sum()\ndel x\nx = None", "cut_detach", 6,
    ),
    "an argument whose keyword is called like a method": (
        X + W + "def add(mean, other):\n    return mean + other\nout = add(mean=w, other=x.detach())\nloss = out.mean()",
        "cut_detach", 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SURE)
def test_a_cut_is_found(case: str) -> None:
    program, kind, line = SURE[case]
    answer = asked(program + END, "x if x is not None else xs[0]")
    assert (kinds(answer), lines(answer)) == ([kind], [line]), answer


def test_code_of_this_package_is_not_the_user_s_even_if_it_is_installed_to_be_edited() -> None:
    text = "from autograd_viz.sources.names import source_at\nsource_at(1, 2)\n"
    linecache.cache["<imports>"] = (len(text), None, text.splitlines(keepends=True), "<imports>")
    tree = tree_of("<imports>")
    assert tree is not None
    assert definition(next(n.func for n in ast.walk(tree) if isinstance(n, ast.Call))) is None


def test_a_tensor_is_not_taken_for_a_layer_s_by_the_letters_of_a_name() -> None:
    program = (
        "class Box: pass\nconn = Box()\nconn.make = torch.ones\nx = conn.make(3)\n"
        + W
        + "h = x * w\nx.requires_grad_()\nloss = h.sum()"
    )
    answer = asked(program + END)
    assert kinds(answer) == ["required_late"] and lines(answer) == [7], answer
