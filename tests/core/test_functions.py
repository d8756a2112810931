"""User-defined Functions: what they may mark, save and return. (tests/core/semantics compares them with PyTorch.)"""

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


def test_nothing_is_saved_while_forward_runs() -> None:
    said: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x, None)
        ctx.save_for_forward(x * 5)
        said.append(ctx.saved_tensors)
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        ctx.save_for_backward(grad)
        said.append(ctx.saved_tensors)
        return grad * 2

    x = av.tensor(3.0, requires_grad=True)
    function(forward, backward).apply(x).backward()
    assert said[0] == () and said[1][0] is x and said[1][1] is None


def test_the_version_counts_a_mark_too_whatever_the_mode() -> None:
    for x in (av.ones(2), av.ones(2, requires_grad=True).clone()):
        assert function(add_one).apply(x) is x and x._version == 2
        with av.no_grad():
            function(add_one).apply(x)
        assert x._version == 4


def test_a_view_is_changed_by_a_function_with_one_output_only() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        return add_one(ctx, x), x * 2

    x = av.ones(2, requires_grad=True).clone()
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        function(forward).apply(x[:1])
    assert x.grad_fn.name() == "CloneBackward0"


def test_what_is_marked_dirty_is_an_input() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 3
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        function(forward).apply(av.ones(2, requires_grad=True))


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


def test_an_input_returned_without_recording_is_no_view_and_may_be_written() -> None:
    x = av.ones(2, requires_grad=True)
    with av.no_grad():
        y = function(lambda ctx, x: x).apply(x)
    assert y is not x and not y._is_view() and not y.requires_grad
    y.add_(1)
    assert x.tolist() == [2.0, 2.0] and x._version == 1


def test_with_another_output_beside_it_an_input_returned_as_it_is_is_one_of_several_views() -> None:
    y, _ = function(lambda ctx, x: (x, x * 2)).apply(av.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        y.add_(1)


def test_retain_grad_follows_an_input_that_forward_changes() -> None:
    x = av.ones(2, requires_grad=True).clone()
    x.retain_grad()
    (function(add_one).apply(x) * 5).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_a_real_input_gets_a_real_gradient() -> None:
    x = av.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"got a complex gradient \(torch.complex64\) for a real input"):
        function(lambda ctx, x: x * 2, lambda ctx, grad: grad * 1j).apply(x).sum().backward()
    assert x.grad is None
