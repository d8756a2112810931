"""What can be done to a leaf, and the gradient that arrives there. (tests/core/semantics compares more of it with PyTorch.)"""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.twin.core.backward.backward import start

from .stepwise import steps_of


def doubling(held: list[Any]) -> Any:
    """A Function of two leaves that sends both the array that it got, twice as large; `held` is told its address."""

    class Double(av.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a + b

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            grad = grad * 2
            held.append(grad.data_ptr())
            return grad, grad

    return Double


def test_a_large_gradient_that_nobody_holds_becomes_that_of_a_leaf_unless_it_is_for_two() -> None:
    a, b = (av.ones(10, 10, requires_grad=True) for _ in range(2))
    made: list[int] = []
    doubling(made).apply(a, b.detach()).sum().backward()
    assert a.grad.data_ptr() == made[0]
    a.grad = None
    doubling(made).apply(a, b).sum().backward()
    a.grad.zero_()
    assert (b.grad == 2).all()


def test_a_gradient_that_somebody_holds_is_copied() -> None:
    x, given = av.ones(10, 10, requires_grad=True), av.ones(10, 10)
    (x + 1).backward(given)
    seen = [s.grad_outputs[0] for s in steps_of(start((x * given).sum(), None, None, False)) if not s.node.next_functions]
    x.grad.zero_()
    assert (given == 1).all()
    x.grad = None
    seen += [s.grad_outputs[0] for s in steps_of(start((x * given).sum(), None, None, False)) if not s.node.next_functions]
    x.grad.zero_()
    assert [s.min() for s in seen] == [1.0, 1.0]


def test_a_leaf_that_could_not_take_its_gradient_can_be_tried_again() -> None:
    x = av.ones(10, 10, requires_grad=True)
    x.grad = av.ones(1).expand(10, 10)
    task = start((x * 3).sum(), None, None, False)
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        list(steps_of(task))
    x.grad = None
    list(steps_of(task))
    assert (x.grad == 3).all()


def test_a_gradient_does_not_fit_where_one_of_another_shape_is() -> None:
    x = av.ones(2, requires_grad=True)
    x.grad = av.ones(2)
    x.data = av.ones(3)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_what_a_user_puts_on_a_tensor_can_be_deleted() -> None:
    x = av.ones(2)
    x.note = 3
    del x.note
    assert not hasattr(x, "note")
