"""explain, where something but the pass is to blame: a grad changed after it, clipping, torch.func, a factor that holds nan."""

from __future__ import annotations

import pytest

from .explained import X, kinds, lines, told
from .test_torch import asked

SUM = "loss = (x * 3).sum()\nloss.backward()\n"
CHANGES = {  # the statement after the pass
    "a division in place": "x.grad /= 0",
    "an assignment": "x.grad = x.grad / 0",
    "a method in place": "x.grad.div_(0)",
    "a method of .data": "x.grad.data.mul_(float('inf'))",
    "a loop over the tensors": "for p in [x]:\n    p.grad /= 0",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_grad_that_a_line_made_infinite_is_not_older_than_the_pass(change: str) -> None:
    answer = told(X + SUM + CHANGES[change])
    assert kinds(answer) == ["bad_since"] and lines(answer) == [5 if "loop" in change else 4], answer
    assert "[3.0, 3.0, 3.0] arrived in the last pass" in str(answer)


@pytest.mark.torch
@pytest.mark.parametrize("change", CHANGES)
def test_after_the_fact_the_line_that_may_have_made_it_is_named(change: str) -> None:
    answer = asked(X + SUM + CHANGES[change])
    assert kinds(answer) == ["bad_unknown", "grad_written"] and lines(answer)[1] == (5 if "loop" in change else 4), answer


CLIP = "e = torch.tensor([0.0], requires_grad=True)\nloss = (x * 3).sum() + e.sqrt().sum()\nloss.backward()\n"


def test_clipping_by_an_infinite_norm_is_told_with_what_made_the_inf() -> None:
    answer = told(X + CLIP + "torch.nn.utils.clip_grad_norm_([x, e], 1.0)", "e")
    assert kinds(answer) == ["bad_clipped", "born_sqrt"] and lines(answer) == [5, 3], answer
    assert "The inf was born at SqrtBackward0" in str(answer) and "was there before" not in str(answer)


@pytest.mark.torch
def test_clipping_after_the_fact_is_told_beside_the_loss() -> None:
    program = (
        "lin = torch.nn.Linear(2, 1)\nx = lin.weight\nloss = (lin(torch.full((1, 2), 1e30)) ** 2).sum()\nloss.backward()\n"
    )
    answer = asked(program + "torch.nn.utils.clip_grad_norm_([x], 1.0)")
    assert kinds(answer) == ["loss_bad", "clipped"] and lines(answer)[1] == 5, answer


ATTENTION = """
q = torch.tensor([[1.0, 2.0], [2.0, 1.0]], requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
m = torch.tensor([[True, True], [False, True]])
a = torch.softmax((q + 1).masked_fill(m, float("-inf")), -1)
loss = (a @ x)[1].sum()
loss.backward()
"""


def test_a_factor_with_a_masked_row_is_told_with_its_mask() -> None:
    answer = told(ATTENTION)
    assert kinds(answer) == ["born_factor", "nan_of_inf", "forward_put"] and lines(answer) == [5, 4, 4], answer
    assert "multiplies what arrives by a, which holds nan" in str(answer) and "0 times infinity" not in str(answer)


@pytest.mark.torch
def test_a_factor_with_nan_is_told_after_the_fact() -> None:
    answer = asked(ATTENTION)
    assert kinds(answer) == ["born_factor", "written"] and lines(answer)[1] == 4, answer


DIVERGED = """
def train():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(200):
        loss = F.mse_loss(w * 10, torch.zeros(2))
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= w.grad
    return w, loss
x, loss = train()
"""


def test_a_nan_that_steps_elsewhere_left_is_not_said_to_be_older_than_the_pass() -> None:
    answer = told(DIVERGED)
    assert kinds(answer) == ["diverged"] and "it is in x by now" in str(answer), answer


@pytest.mark.torch
def test_after_the_fact_too() -> None:
    assert kinds(asked(DIVERGED)) == ["diverged"]


FUNCTIONAL = {  # line 1 makes w
    "grad": "def f(w):\n    return (w * w).sum()\ng = torch.func.grad(f)(x)",
    "a function that it makes": "def f(w):\n    return (w * w).sum()\nd = torch.func.grad(f)\ng = d(x)",
    "grad_and_value by its name": (
        "from torch.func import grad_and_value\ndef f(w):\n    return (w * w).sum()\ng, loss = grad_and_value(f)(x)"
    ),
    "a dictionary": "from torch.func import grad\ngiven = {'x': x}\ng = grad(lambda d: (d['x'] * 2).sum())(given)",
}


@pytest.mark.torch
@pytest.mark.parametrize("case", FUNCTIONAL)
def test_gradients_of_torch_func_are_returned(case: str) -> None:
    answer = asked(X + FUNCTIONAL[case])
    last = len((X + FUNCTIONAL[case]).strip().split("\n"))
    assert kinds(answer) == ["functional"] and lines(answer) == [last], answer


@pytest.mark.torch
def test_grad_imported_by_its_name_is_a_pass_that_keeps_nothing() -> None:
    answer = asked("from torch.autograd import grad\n" + X + "loss = (x * x).sum()\ng, = grad(loss, x)")
    assert kinds(answer) == ["left_out_at"] and lines(answer) == [4], answer
