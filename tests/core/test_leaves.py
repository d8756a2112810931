"""What can be done to a leaf, and the gradient that arrives there. (tests/core/semantics compares them with PyTorch.)"""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av


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


def test_nothing_is_added_where_elements_share_memory() -> None:
    x = av.ones(2, requires_grad=True)
    x.grad = av.ones(1).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        (x * 2).sum().backward()
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
