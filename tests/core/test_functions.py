"""User-defined Functions: what tests/core/semantics does not compare with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av


def function(forward: Callable[..., Any], backward: Callable[..., Any] = lambda ctx, *grads: grads[0]) -> Any:
    return type("F", (av.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def add_one(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.add_(1)


def test_a_view_is_changed_by_a_function_with_one_output_only() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        return add_one(ctx, x), x * 2

    x = av.ones(2, requires_grad=True).clone()
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        function(forward).apply(x[:1])
    assert x.grad_fn.name() == "CloneBackward0"


@pytest.mark.parametrize("mark", ["mark_dirty", "mark_non_differentiable"])
def test_only_tensors_can_be_marked(mark: str) -> None:
    def forward(ctx: Any, x: Any) -> Any:
        getattr(ctx, mark)([x])
        return x * 1

    for x in (av.ones(2, requires_grad=True), av.ones(2)):
        with pytest.raises(RuntimeError, match=f"{mark} .*list"):
            function(forward).apply(x)


def test_only_true_and_false_say_whether_zeros_are_wanted() -> None:
    with pytest.raises(TypeError, match=r"got \(int\), but expected \(bool\)"):
        function(lambda ctx, x: ctx.set_materialize_grads(0)).apply(av.ones(2))


def test_a_real_input_gets_a_real_gradient() -> None:
    x = av.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"got a complex gradient \(torch.complex64\) for a real input"):
        function(lambda ctx, x: x * 2, lambda ctx, grad: grad * 1j).apply(x).sum().backward()
    assert x.grad is None
