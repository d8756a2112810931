"""explain reads which line changed a tensor or its grad: not that of another tensor, nor one that did not run."""

from __future__ import annotations

import pytest

from .explained import kinds, lines
from .test_torch import asked

pytestmark = pytest.mark.torch
LARGE = "x = torch.ones(300, requires_grad=True)\nm = torch.zeros(300)\nv = torch.ones(300, requires_grad=True)\n"
PRODUCT = LARGE + "loss = (x * m * 2).sum() + v.sum()\nloss.backward()\n"
CLAMPED = LARGE + "loss = (x.clamp(2, 3) + v).sum()\nloss.backward()\n"
PART_CLIP = "torch.nn.utils.clip_grad_norm_([x], [1.0, 0][0])"

NOT_ZEROED = {  # a line after the pass that is not why x.grad is zero
    "a loop over other tensors": PRODUCT + "for p in [v]:\n    p.grad.zero_()",
    "a loop over what a variable holds": PRODUCT + "params = [v]\nfor p in params:\n    p.grad.zero_()",
    "a loop over the parameters of another": (
        "lin = torch.nn.Linear(1, 1)\n"
        + PRODUCT
        + "lin(torch.ones(1)).backward()\nfor p in lin.parameters():\n    p.grad.zero_()"
    ),
    "clipping with a 0 that is no limit": CLAMPED + PART_CLIP,
    "clipping of other tensors to 0": PRODUCT + "torch.nn.utils.clip_grad_norm_([v], 0)",
    "a name with zeros in it": PRODUCT + "nonzeros = x.grad.clone()",
}


@pytest.mark.parametrize("case", NOT_ZEROED)
def test_a_line_that_did_not_zero_this_grad_is_not_blamed(case: str) -> None:
    answer = asked(NOT_ZEROED[case])
    assert "zeroed_by" not in kinds(answer), answer


ZEROED = {  # a line after the pass that set x.grad to zero
    "a loop over what a variable holds": "params = [x, v]\nfor p in params:\n    p.grad.zero_()",
    "clipping to 0": "torch.nn.utils.clip_grad_norm_([x], max_norm=0)",
    "filling": "x.grad.fill_(0)",
    "a new tensor": "x.grad = torch.zeros_like(x)",
    "a slice": "x.grad[:] = 0",
}


@pytest.mark.parametrize("case", ZEROED)
def test_the_line_that_zeroed_this_grad_is_told(case: str) -> None:
    answer = asked(LARGE + "loss = (x * 2 + v).sum()\nloss.backward()\n" + ZEROED[case])
    assert kinds(answer) == ["zeroed_by"] and lines(answer) == [6 + ZEROED[case].count("\n")], answer


def test_clipping_by_an_infinite_norm_may_have_made_zeros() -> None:
    program = (
        "x = torch.ones(2, requires_grad=True)\ne = torch.zeros(1, requires_grad=True)\nloss = (x * 3).sum() + e.sqrt().sum()\n"
    )
    answer = asked(program + "loss.backward()\ntorch.nn.utils.clip_grad_norm_([x, e], 1.0)")
    assert kinds(answer)[-1] == "clipped" and lines(answer)[-1] == 5, answer


W = "w = torch.ones(3, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
FAILS = "try:\n    y.sum().backward()\nexcept RuntimeError as e:\n    error = e"


def test_a_scheduler_changes_no_parameter() -> None:
    program = (
        W + "sched = torch.optim.lr_scheduler.StepLR(opt, 1)\ny = w * w\n(w * 1).sum().backward()\nopt.step()\nsched.step()\n"
    )
    answer = asked(program + FAILS, "error")
    assert kinds(answer) == ["modified_by_step"] and lines(answer) == [6], answer


def test_a_scaler_steps_the_optimizer_that_it_is_given() -> None:
    program = W + "scaler = torch.amp.GradScaler('cpu', enabled=False)\ny = w * w\n(w * 1).sum().backward()\nscaler.step(opt)\n"
    answer = asked(program + FAILS, "error")
    assert lines(answer) == [6], answer


SWITCHES = {  # programs whose line 2 did not make w what it is on line 5 or 4
    "detach_() that did not run": "w = torch.ones(2) * 1\nif w.dim() > 9:\n    w.detach_()\nx = w",
    "detach_() of what had the name before": "w = torch.ones(2, requires_grad=True) * 1\nw.detach_()\nw = torch.ones(2)\nx = w",
    "requires_grad_(False) that did not run": "w = torch.ones(2)\nif w.dim() > 9:\n    w.requires_grad_(False)\nx = w",
    "requires_grad_(False) of what had the name before": (
        "w = torch.ones(2, requires_grad=True)\nw.requires_grad_(False)\nw = torch.ones(2)\nx = w"
    ),
}


@pytest.mark.parametrize("case", SWITCHES)
def test_a_line_that_did_not_run_or_meant_another_tensor_switched_nothing_off(case: str) -> None:
    answer = asked(SWITCHES[case], "w")
    assert kinds(answer)[0] in ("not_asked", "not_asked_or_cut", "computed"), answer


LEVEL = {  # layers before a sum; in none of them is the sum the same whatever comes in
    "a batch norm in eval()": (
        "n = torch.nn.BatchNorm1d(3).eval()\nwith torch.no_grad():\n    n.weight.mul_(1e-5)\n"
        "loss = n(lin(torch.randn(4, 2))).sum()"
    ),
    "a layer norm with weights of its own": (
        "n = torch.nn.LayerNorm(3)\nwith torch.no_grad():\n    n.weight.copy_(torch.tensor([1e-6, 2e-6, 0.0]))\n"
        "loss = n(lin(torch.randn(4, 2))).sum()"
    ),
    "a slice of a layer norm": (
        "n = torch.nn.LayerNorm(3)\nwith torch.no_grad():\n    lin.weight.mul_(1e6)\n"
        "loss = n(lin(torch.randn(4, 2)))[:, :2].sum()"
    ),
}


@pytest.mark.parametrize("case", LEVEL)
def test_a_small_gradient_is_not_always_taken_away_by_a_norm(case: str) -> None:
    program = "torch.manual_seed(0)\nlin = torch.nn.Linear(2, 3)\nx = lin.weight\n" + LEVEL[case]
    answer = asked(program + "\nloss.backward()")
    assert "zero_level" not in kinds(answer), answer
