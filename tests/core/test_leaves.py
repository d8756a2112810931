"""What can be done to a leaf, and the gradient that arrives there. (tests/core/semantics compares them with PyTorch.)"""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.core.backward.backward import start

from .stepwise import steps_of


@pytest.mark.parametrize(
    ("leaf", "stride"),
    [
        (av.ones(3, 2).t(), (1, 2)),
        (av.ones(4, 3, 2).permute(2, 0, 1), (1, 6, 2)),
        (av.ones(4, 3)[::2], (3, 1)),
        (av.ones(1).expand(3), (1,)),
    ],
)
def test_a_gradient_lies_in_memory_as_its_leaf_without_gaps(leaf: Any, stride: tuple[int, ...]) -> None:
    x = leaf.detach().requires_grad_()
    (x * av.ones(x.shape)).sum().backward()
    assert x.grad.stride() == stride and x.grad.tolist() == av.ones(x.shape).tolist()


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


def test_nothing_is_added_where_elements_share_memory() -> None:
    x = av.ones(2, requires_grad=True)
    x.grad = av.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_gradient_does_not_fit_where_one_of_another_shape_is() -> None:
    x = av.ones(2, requires_grad=True)
    x.grad = av.ones(2)
    x.data = av.ones(3)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_whether_a_tensor_requires_grad_is_said_by_true_and_false(value: Any) -> None:
    x = av.ones(2)
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = value
    with pytest.raises(TypeError, match=rf"must be bool, not {type(value).__name__}"):
        x.requires_grad_(value)
    assert x.requires_grad is False


@pytest.mark.parametrize("name", ["data", "requires_grad", "_grad_fn", "_backward_hooks"])
def test_parts_of_a_tensor_cannot_be_deleted(name: str) -> None:
    x = av.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"[Dd]elet|must be a bool"):
        delattr(x, name)
    assert x.grad_fn is not None and x.tolist() == [2.0, 2.0]


def test_what_a_user_puts_on_a_tensor_can_be_deleted() -> None:
    x = av.ones(2)
    x.note = 3
    del x.note
    assert not hasattr(x, "note")


def test_a_leaf_with_other_memory_is_another_leaf() -> None:
    x, source = av.ones(2, requires_grad=True), av.zeros(2)
    y = x.clone()
    with av.no_grad():
        x.set_(source)
        x[0] = 5.0
    assert source.tolist() == [5.0, 0.0] and x._version == 2 and source._version == 0
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        av.autograd.grad(y.sum(), x)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.set_(source)


def test_a_tensor_gets_longer_and_shorter() -> None:
    x = av.arange(6.0).reshape(2, 3)
    assert x.resize_(2, 2).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert x.resize_(3, 2).tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert x.resize_(8)[:6].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and x._version == 3
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.requires_grad_().resize_(1)


def test_a_new_tensor_has_the_type_of_the_old_one() -> None:
    x = av.ones(2, dtype=av.int64)
    assert x.new([1.5]).tolist() == [1] and x.new(2, 3).shape == (2, 3) and x.new(size=(2, 2)).dtype is av.int64
    assert x.new(x).data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match=r"expected a tensor of type torch.int64 \(got torch.float32\)"):
        x.new(av.ones(2))


def test_volatile_is_no_more() -> None:
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert av.ones(2).volatile is False
