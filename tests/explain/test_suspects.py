"""explain, where the numbers on the way were not kept: whatever made the zero, the nan or the inf is among those named."""

from __future__ import annotations

import pytest

from .explained import X, kinds, told
from .test_torch import asked

PASS = "loss.backward()\n"
NAMED = {  # program -> who is to be named, and with what condition
    "a factor behind four other suspects": (
        X + "r = torch.zeros(3)\ny = x.tanh().sigmoid().softmax(-1).clamp(min=1e-6).log()[torch.arange(3)]\n"
        "loss = -(y * r).sum()\n",
        "MulBackward0 in line 4 (if the other factor is 0",
    ),
    "a derivative's derivative": (
        "net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))\nx = net[0].bias\n"
        "u = torch.randn(3, 2, requires_grad=True)\ng, = torch.autograd.grad(net(u).sum(), u, create_graph=True)\n"
        "loss = (g.norm(dim=1) - 1).pow(2).mean()\n",
        "ThresholdBackwardBackward0 (derivatives of derivatives",
    ),
    "a quotient of 0": ("x = torch.ones(3, requires_grad=True)\nloss = (torch.zeros(3) / x.exp()).sum()\n", "DivBackward0"),
    "equal elements": ("x = torch.ones(3, requires_grad=True)\nloss = (x * 2).std()\n", "StdBackward0 in line 2 (if all"),
    "a tanh's derivative": (
        "x = torch.zeros(3, requires_grad=True)\ng, = torch.autograd.grad(x.tanh().sum(), x, create_graph=True)\n"
        "loss = (g * 2).sum()\n",
        "TanhBackwardBackward0",
    ),
    "nan of what is divided by a constant 0": (
        "x = torch.tensor([0.2, 0.8], requires_grad=True)\nq = torch.tensor([0.0, 1.0])\nloss = (x * (x / q).log()).sum()\n",
        "DivBackward0 in line 3 (where it divides by 0)",
    ),
    "nan of a factor": (
        "lin = torch.nn.Linear(2, 1)\nx = lin.weight\nout = lin(torch.tensor([[1.0, 0.0], [1.0, 1.0]]).log() / 0)\n"
        "loss = out[:0].sum()\n",
        "AddmmBackward0 in line 3 (if the other factor holds nan or inf)",
    ),
    "a rule that is in no table": (X + "loss = torch.lgamma(x * 0).sum() * 0\n", "LgammaBackward0"),
    "a relu that is dead where something arrives": (X + "y = (x - 2).relu()\nloss = (y[:1] * 3).sum()\n", "ReluBackward0"),
    "a threshold with a value": (X + "y = F.threshold(-x, 0, 1.0)\nloss = y.sum() * 2\n", "ThresholdBackward0"),
    "1 more than a logarithm takes": (
        X + "loss = (x.exp() - 99).log1p().sum()\n", "Log1PBackward0 in line 2 (where its input is -1 or below)"
    ),
    "a negative logarithm": (X + "loss = (x - 1000.0).log().sum()\n", "LogBackward0 in line 2 (where its input is 0 or"),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", NAMED)
def test_the_culprit_is_among_those_that_are_named(case: str) -> None:
    program, words = NAMED[case]
    answer = asked(program + PASS)
    assert words in str(answer) and "none that is known" not in str(answer), answer


@pytest.mark.torch
def test_the_exponent_of_a_negative_base() -> None:
    program = "z = torch.tensor([-2.0, 2.0])\nx = torch.tensor([2.0, 3.0], requires_grad=True)\nz.requires_grad_()\n"
    answer = asked(program + "loss = (z ** x).sum()\n" + PASS)
    assert kinds(answer) == ["born_exponent"] and "(-2.0 … 2.0;" in str(answer), answer
    answer = asked(X + "y = (-2.0) ** (x * 1)\nloss = y.sum() * 0\n" + PASS)
    assert kinds(answer) == ["born_exponent"] and "(-2.0;" in str(answer), answer


@pytest.mark.torch
def test_where_no_op_can_have_made_it_that_is_said() -> None:
    answer = asked(X + "loss = (x + x).sum()\n" + PASS + "g = x.grad\ng.data.fill_(float('nan'))")
    assert kinds(answer)[0] == "bad_no_suspect" and "No op on the way makes nan" in str(answer), answer
    answer = asked(X + "c = [torch.tensor(float('inf'))]\nloss = (x + c.pop()).sum() - 1\n" + PASS)
    assert "loss_given" in kinds(answer) or "forward_constant" in kinds(answer), answer


def test_a_spread_of_one_element_is_no_matter_of_clamping() -> None:
    for op in ("std", "var"):
        answer = told(X + f"loss = x[:1].{op}()\nloss.backward()")
        assert kinds(answer) == ["forward_few"] and "correction=0" in str(answer) and "clamp" not in str(answer), answer


def test_elements_are_counted_along_the_dimension() -> None:
    answer = told("x = torch.ones(1, 3, requires_grad=True)\nloss = x.var(dim=0).sum()\nloss.backward()")
    assert kinds(answer) == ["forward_few"], answer
    answer = told("x = torch.ones(4, 3, requires_grad=True)\nloss = (x.std(dim=0) - 2).sum().log()\nloss.backward()")
    assert "forward_few" not in kinds(answer), answer


@pytest.mark.torch
def test_a_spread_of_enough_elements_is_no_suspect() -> None:
    program = "x = torch.ones({rows}, 3, requires_grad=True)\nloss = (x * 2).var(dim=0).sum().sub(9).log() * 2\n"
    assert "VarBackward0 in line 2 (if it has no more" in str(asked(program.format(rows=1) + PASS))
    assert "if it has no more" not in str(asked(program.format(rows=4) + PASS))


@pytest.mark.torch
def test_hooks_are_named_once() -> None:
    program = "lin = torch.nn.Linear(3, 3)\nlin.register_full_backward_hook(lambda m, i, o: (i[0] * 0,))\n"
    answer = str(asked(X + program + "loss = lin(x * 1).sum() * 2\n" + PASS))
    assert answer.count("the hook") == 1 and "if a module's hook returns zeros" in answer, answer


def test_a_finite_gradient_of_a_nan_loss_is_no_consolation() -> None:
    answer = told(X + "loss = (x - 1000).log().sum()\nloss.backward()")
    assert kinds(answer)[-1] == "loss_bad_finite" and "Do not step with it" in str(answer), answer
