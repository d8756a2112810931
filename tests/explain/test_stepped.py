"""explain, after a stepper has gone through the graph: it knows what the stepper saw."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .explained import X, kinds, lines, told

MODULES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]
STEPPED = "s = av.step(loss)\n"


@pytest.fixture(params=MODULES)
def names(request: pytest.FixtureRequest) -> dict[str, Any]:
    module = pytest.importorskip(request.param)
    return {"torch": module, "F": module.nn.functional, "av": av}


def test_the_node_that_made_zeros_is_known(names: dict[str, Any]) -> None:
    answer = told(X + "loss = F.hardswish(x * -30).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["zero_sent"] and "HardswishBackward0 received a gradient and sent zero" in str(answer)
    answer = told(X + "loss = F.gelu(x * -30).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["zero_below"] and "far below 0, and here it is -90.0 … -30.0" in str(answer)


@pytest.mark.parametrize("clear", ["opt.zero_grad(set_to_none=False)", "x.grad.zero_()", "for p in [x]: p.grad *= 0"])
def test_the_line_that_set_grad_to_zero_after_the_pass_is_named(names: dict[str, Any], clear: str) -> None:
    program = X + "opt = torch.optim.SGD([x], lr=0.1)\nloss = (x * x).sum()\nloss.backward()\n"
    answer = told(program + clear, **names)
    assert kinds(answer)[0] in ("zeroed_at", "zeroed_by") and lines(answer) == [5]
    dead = told(f"{program}{clear}\nloss = (x * x - 100).relu().sum()\nloss.backward()", **names)
    assert not set(kinds(dead)) & {"zeroed_at", "zeroed_by"} and "ReluBackward0" in str(dead)


def test_a_pass_after_the_stepped_one_is_told_apart_from_a_change_by_hand(names: dict[str, Any]) -> None:
    program = X + "loss = (x * x).sum()\n" + STEPPED + "s.finish()\n"
    again = told(program + "loss.backward()", **names) if names["torch"] is not av else None
    assert again is None or kinds(again)[-1] == "added_since"
    assert kinds(told(program + "x.grad *= 0.3", **names))[-1] == "edited"


def test_half_way_the_node_is_named_that_has_yet_to_run(names: dict[str, Any]) -> None:
    answer = told(X + "loss = (x * 2).exp().sum()\n" + STEPPED + "s.next()", **names)
    assert kinds(answer) == ["awaited"] and "AccumulateGrad, where the gradient of x arrives, has not run yet" in str(answer)


def test_what_is_taken_back_counts_no_more(names: dict[str, Any]) -> None:
    answer = told(X + "loss = (x * 2).exp().sum()\n" + STEPPED + "s.finish(); s.reset()", **names)
    assert kinds(answer) == ["not_run"]


def test_a_grad_that_is_cleared_after_the_steps_has_arrived(names: dict[str, Any]) -> None:
    answer = told(X + "loss = (x * 2).sum()\n" + STEPPED + "s.finish()\nx.grad = None", **names)
    assert kinds(answer) == ["cleared_at"] and "[2.0, 2.0, 2.0] did arrive" in str(answer)


@pytest.mark.torch
def test_without_steps_hooks_are_among_the_suspects_and_a_product_with_other_numbers_is_not() -> None:
    torch = pytest.importorskip("torch")
    program = "h = x * 3\ndef nothing(g): return g * 0\nh.register_hook(nothing)\nloss = h.sum()\nloss.backward()"
    answer = told(X + program, torch=torch)
    assert kinds(answer) == ["zero_unknown"] and "the hook nothing at MulBackward0; MulBackward0 in line 2 (if" in str(answer)
    answer = told(X + "loss = F.hardswish(x * -30).sum()\nloss.backward(retain_graph=True)", torch=torch, F=torch.nn.functional)
    assert kinds(answer) == ["zero_only"] and "can make zeros: HardswishBackward0 in line 2 (where" in str(answer)


def test_what_was_there_before_and_cancels_is_known(names: dict[str, Any]) -> None:
    answer = told(X + "(x * 3).sum().backward()\nloss = -(x * 3).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["cancelled"] and "[3.0, 3.0, 3.0] was there before" in str(answer)


def test_what_is_changed_after_the_pass_is_not_said_to_have_been_there_before(names: dict[str, Any]) -> None:
    answer = told(X + "loss = (x * 3).sum()\n" + STEPPED + "s.finish()\nx.grad.mul_(0.5)", **names)
    assert kinds(answer) == ["came_from", "edited"] and "it is 0.5 times that" in str(answer)
    answer = told(X + "(x * 3).sum().backward()\nloss = (x * 2).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["came_from", "accumulated"] and "[3.0, 3.0, 3.0] was there before" in str(answer)


def test_a_stepper_of_another_graph_is_not_asked() -> None:
    answer = told(
        "w = torch.ones(2, requires_grad=True)\nloss = (w * 2).sum()\nav.step(loss).finish()\nw.grad = None\n"
        "other = (w * 3).sum()\nav.step(other).next()",
        "w, loss", av=av,
    )  # fmt: skip
    assert (kinds(answer), lines(answer)) == (["cleared_at"], [4]), answer


def test_a_product_that_is_too_small_for_its_type_is_told_from_a_factor_of_zero(names: dict[str, Any]) -> None:
    half = "x = torch.tensor([1.0, 2.0], dtype=torch.float16, requires_grad=True)\n"
    answer = told(half + "loss = (x * 1e-4 * 1e-4).sum() * 1e-2\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["zero_underflow"] and "by at most 0.0001: that is too small for float16" in str(answer)
    answer = told(half + "loss = (x / 3e4 / 3e4).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["zero_underflow"]
    answer = told(half + "loss = (x * torch.zeros(2) * 1e-4).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["zero_tensor"]
    double = (
        "x = torch.tensor([1e-200], dtype=torch.float64, requires_grad=True)\nw = torch.tensor([1e-170], dtype=torch.float64)\n"
    )
    answer = told(double + "loss = (x * w * w).sum()\n" + STEPPED + "s.finish()", **names)
    assert kinds(answer) == ["zero_underflow"] and "too small for float64" in str(answer)


TRAINED = (
    "w = torch.tensor([1.0, 4.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=1e38)\nfor i in range(3):\n"
    "    opt.zero_grad()\n    loss = {}.sum()\n    loss.backward()\n    opt.step()"
)


def test_a_training_that_diverged_is_told_from_an_op_that_made_nan(names: dict[str, Any]) -> None:
    answer = told(TRAINED.format("(w * w * w)"), "w", **names)
    assert (kinds(answer), lines(answer)) == (["diverged"], [7]) and "it is in w by now" in str(answer)
    answer = told(TRAINED.format("(w - 1).log()").replace("range(3)", "range(1)"), "w", **names)
    assert "diverged" not in kinds(answer) and "Log" in str(answer), answer
