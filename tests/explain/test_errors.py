"""Errors that are not about a saved tensor: what they mean, and what is wrong with the tensor that they are about."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .explained import kinds, lines, told

CAUGHT = "try:\n    {0}\nexcept Exception as e:\n    error = e"
W = "w = torch.ones(2, requires_grad=True)\n"
NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.extra = torch.nn.Linear(1, 1), torch.nn.Sequential(torch.nn.Linear(1, 1))
    def forward(self, x):
        return self.fc(x)
net = Net()
loss = net(torch.ones(2, 1)).sum()
loss.backward()
"""
ABOUT = {  # program, what is run, kinds, line of the last cause, words
    "grad of what does not require it": (
        W + "x = torch.ones(2)\ny = (w * x).sum()\n", "torch.autograd.grad(y, [w, x])", ["error", "not_asked"], 2,
        "x.requires_grad is False",
    ),
    "grad of what was cut off": (
        W + "x = torch.ones(2, requires_grad=True)\nh = x.detach() * w\n", "torch.autograd.grad(h.sum(), [w, x])",
        ["error", "cut_detach"], 3, "The path from x to the loss is cut by detach()",
    ),
    "grad of what was cut off in the same line": (
        W + "x = torch.ones(2, requires_grad=True)\n", "torch.autograd.grad((x.detach() * w).sum(), [w, x])",
        ["error", "cut_detach"], 4, "The path from x to the loss is cut by detach()",
    ),
    "an optimizer of what was computed": (
        "u = torch.ones(2, requires_grad=True) * 0.1\n", "torch.optim.SGD([u], lr=0.1)", ["error", "computed_not_leaf"], 1,
        "u is not a leaf: MulBackward0 made it (line 1",
    ),
    "the second of two roots": (
        W + "x = torch.ones(2)\n", "torch.autograd.backward([(w * 2).sum(), x.sum()])", ["error", "computed"], 4, "",
    ),
    "a step that makes a new tensor": (
        W + "for i in range(2):\n    loss = (w * 2).sum()\n    error = None\n    try:\n        loss.backward()\n    except "
        "RuntimeError as e:\n        error = e\n        break\n    with torch.no_grad():\n        w = w - 0.1 * w.grad\n",
        "pass", ["error", "computed", "made_update"], 11, "→ Change the leaf in place, under torch.no_grad(): w -= ...",
    ),
    "a root without a name that was cut off": (
        W + "h = w.detach()\n", "(h * 2).sum().backward()", ["error", "computed"], None, "line 2: h = w.detach()",
    ),
    "a grad that is None": (
        W + "y = w * 2\ny.sum().backward()\n", "y.grad.norm()", [], 2, "y.grad is None.\ny is not a leaf",
    ),
    "a grad that is None, in a product": (
        W + "x = torch.ones(2)\n(w * x).sum().backward()\n", "x.data -= 0.1 * x.grad", ["not_asked"], 2, "x.grad is None.",
    ),
    "a grad that is None, of a part of a module": (
        NET, "net.extra[0].weight.grad.sum()", ["part_unused"], None, "no method of Net uses net.extra",
    ),
    "a grad that is None, among others": (
        NET, "[p.grad.sum() for p in net.parameters()]", ["part_unused"], None, "net.extra.0.weight.grad is None.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("whose", ["core", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("case", ABOUT)
def test_the_tensor_that_an_error_is_about_is_asked(case: str, whose: str) -> None:
    program, run, expected, line, words = ABOUT[case]
    others = {"torch": pytest.importorskip("torch")} if whose == "torch" else {}
    answer = told(program + CAUGHT.format(run), "error", **others)
    computed = ["computed", "made_of_constants", "made_of_unnamed", "made_detach"]  # the core remembers of what
    assert [("computed" if k in computed else k) for k in kinds(answer)][: len(expected)] == expected, answer
    assert line in (None, lines(answer)[-1]) and words in str(answer), answer


def test_a_computed_root_that_lost_nothing_is_not_blamed_on_its_inputs() -> None:
    answer = told("x = torch.ones(2)\nloss = (x * 2).sum()\n" + CAUGHT.format("loss.backward()"), "error")
    assert kinds(answer) == ["error", "made_of_constants"]


def test_python_s_own_files_are_not_the_users() -> None:
    answer = told(f"import copy\n{W}" + CAUGHT.format("copy.deepcopy(w * 2)"), "error")
    assert kinds(answer) == ["error"] and lines(answer) == [4]


class _OneGradient(av.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        return a * b

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]


MEANING = {  # what is run, and words of what it means
    "(w * 2).requires_grad_(False)": "y.detach() is y without its history",
    "torch.ones(2, dtype=torch.int64).requires_grad_()": "float() first",
    "torch.ones(2).retain_grad()": "no gradient to retain",
    "torch.ones(2).register_hook(print)": "its hook would never be called",
    "(w * 2).backward(torch.ones(3))": "has the shape of the output",
    "w.sum().item().backward()": "A plain number has no graph",
    "torch.optim.SGD([], lr=0.1)": "was given no parameters",
    "OneGradient.apply(w, w).sum().backward()": "OneGradientBackward belongs to a Function",
}


@pytest.mark.parametrize("run", MEANING)
def test_an_error_is_explained_in_a_sentence(run: str) -> None:
    answer = told(W + CAUGHT.format(run), "error", OneGradient=_OneGradient)
    assert kinds(answer)[0] == "error" and MEANING[run] in str(answer) and lines(answer)[0] == 3, answer


@pytest.mark.torch
@pytest.mark.parametrize("run", [r for r in MEANING if "OneGradient" not in r])
def test_an_error_of_torch_s_is_explained_in_the_same_sentence(run: str) -> None:
    answer = told(W + CAUGHT.format(run), "error", torch=pytest.importorskip("torch"))
    assert kinds(answer)[0] == "error" and MEANING[run] in str(answer) and lines(answer)[0] == 3, answer
