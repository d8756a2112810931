"""Shapes: what is a view, which types come out, and how PyTorch says no; every expected value is PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

m = av.tensor(np.arange(9.0).reshape(3, 3), requires_grad=True)
v = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
I0 = av.tensor([0])


@pytest.mark.parametrize(
    "view",
    [
        lambda b: b.view(9),
        lambda b: b[0],
        lambda b: b[1:, ::2],
        lambda b: b.t(),
        lambda b: b.diagonal(),
        lambda b: b.unfold(0, 2, 1),
        lambda b: b.as_strided((2,), (4,), 1),
        lambda b: b.unbind(1)[2],
        lambda b: b.split(2)[1],
        lambda b: b.movedim(0, 1),
        lambda b: b[None, ..., 0],
        lambda b: b.unflatten(0, (3, 1)).squeeze(1).mT,
    ],
)
def test_what_is_written_into_a_view_is_in_its_base(view: Callable[[av.Tensor], av.Tensor]) -> None:
    b = av.tensor(np.arange(9.0).reshape(3, 3))
    shown = {int(place) for place in view(b).numpy().ravel()}
    view(b).fill_(-1.0)
    assert {i for i, value in enumerate(b.flatten().tolist()) if value == -1.0} == shown


@pytest.mark.parametrize("copy", [lambda b: b.flip(0), lambda b: b.repeat(2, 1), lambda b: b[[0, 1]], lambda b: b.tril()])
def test_a_copy_has_memory_of_its_own(copy: Callable[[av.Tensor], av.Tensor]) -> None:
    b = av.ones(3, 3)
    copy(b).fill_(5.0)
    assert b.tolist() == [[1.0] * 3] * 3


def test_reshape_of_transposed_memory_copies_and_view_refuses() -> None:
    assert m.t().reshape(9).grad_fn.name() == "UnsafeViewBackward0"
    assert m[:, :2].reshape(3, 2, 1).grad_fn.name() == "ReshapeAliasBackward0"
    with pytest.raises(RuntimeError, match="at least one dimension spans across two contiguous subspaces"):
        m.t().view(9)


def test_a_gradient_is_written_into_the_right_places_of_a_base_in_another_order() -> None:
    w = av.tensor(np.arange(9.0).reshape(3, 3))
    b = m * 1
    b.view(9).mul_(3)
    (grad,) = av.autograd.grad((b.T * w).sum(), m)
    assert grad.tolist() == (3 * w.T).tolist()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: m.view(4), RuntimeError, r"shape '\[4\]' is invalid for input of size 9"),
        (lambda: v.view(-2), RuntimeError, r"invalid shape dimension -2 at index 0 of shape \[-2\]"),
        (lambda: v[:0].view(0, -1), RuntimeError, "the unspecified dimension size -1 can be any value and is ambiguous"),
        (lambda: m.expand(2), RuntimeError, r"the number of sizes provided \(1\) must be greater or equal"),
        (lambda: m.split([1, 1]), RuntimeError, "split_with_sizes expects split_sizes to sum exactly to 3"),
        (lambda: m.hsplit(2), RuntimeError, "the size of the dimension 3 is not divisible by the split_size 2!"),
        (lambda: m.narrow(0, 2, 2), RuntimeError, r"start \(2\) \+ length \(2\) exceeds dimension size \(3\)."),
        (lambda: m.select(0, 5), IndexError, r"select\(\): index 5 out of range for tensor of size \[3, 3\] at dimension 0"),
        (lambda: av.cat([m, v]), RuntimeError, "Tensors must have same number of dimensions: got 2 and 1"),
        (lambda: av.block_diag(m, m[None]), RuntimeError, "must have 2 or fewer dimensions. Input 1 has 3 dimensions"),
        (lambda: av.cat([]), ValueError, r"torch.cat\(\): expected a non-empty list of Tensors"),
        (lambda: av.cat([m, 1]), TypeError, "expected Tensor as element 1 in argument 0, but got int"),
        (lambda: av.cat([m, m[:, :2]]), RuntimeError, "Expected size 3 but got size 2 for tensor number 1 in the list."),
        (lambda: m.gather(0, I0), RuntimeError, "Index tensor must have the same number of dimensions as input tensor"),
        (lambda: m.gather(0, av.tensor([[5]])), RuntimeError, "index 5 is out of bounds for dimension 0 with size 3"),
        (lambda: m.index_select(0, av.tensor([5])), IndexError, "index out of range in self"),
        (lambda: m.index_add(0, I0, m), RuntimeError, r"Number of indices \(1\) should be equal to source.size\(dim\): \(3\)"),
        (lambda: m.take(av.tensor([20])), IndexError, "out of range: tried to access index 20 on a tensor of 9 elements."),
        (lambda: m.masked_fill(m, 1.0), RuntimeError, "masked_fill_ only supports boolean masks, but got mask with"),
        (lambda: m.scatter_reduce(0, m.long(), m, "add"), RuntimeError, "either sum, prod, mean, amax or amin, got add"),
        (lambda: m.flip(0, 0), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (lambda: m.unflatten(0, (2, -1)), RuntimeError, r"Provided sizes \[2, -1\] don't multiply up to the size of dim 0"),
        (lambda: m.as_strided((5, 5), (5, 5)), RuntimeError, "are out of bounds for storage of size 72"),
        (lambda: m.to("cuda"), AssertionError, "Torch not compiled with CUDA enabled"),
    ],
)
def test_what_does_not_fit_is_refused_in_pytorchs_words(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda h, i: av.cat([h, i]), av.float16),
        (lambda h, i: av.stack([i, h.float()]), av.float32),
        (lambda h, i: av.block_diag(h, i), av.float16),
        (lambda h, i: i[:2].diag().trace(), av.int64),
        (lambda h, i: h.repeat(2).flip(0).roll(1), av.float16),
        (lambda h, i: h.scatter_reduce(0, i, h, "mean"), av.float16),
        (lambda h, i: i.masked_fill(h > 0, 2.0), av.int64),
    ],
)
def test_types_are_those_of_pytorch(make: Callable[..., av.Tensor], dtype: Any) -> None:
    assert make(av.tensor([1.0, 2.0]).half(), av.tensor([0, 1])).dtype is dtype


def test_to_copies_only_if_something_changes() -> None:
    assert m.to(av.float64) is m
    assert m.to("cpu") is m
    assert m.to(m) is m
    assert m.to(av.float64, copy=True).grad_fn.name() == "ToCopyBackward0"
    assert m.float().dtype is av.float32
    assert m.type() == "torch.DoubleTensor"
    assert m.long().requires_grad is False


def test_the_extreme_of_scatter_reduce_shares_its_gradient_among_equals() -> None:
    a = av.tensor([1.0, 5.0], requires_grad=True)
    s = av.tensor([5.0, 5.0, 0.0], requires_grad=True)
    a.scatter_reduce(0, av.tensor([1, 1, 0]), s, "amax").sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), [1.0, 1 / 3])
    np.testing.assert_allclose(s.grad.numpy(), [1 / 3, 1 / 3, 0.0])


def test_in_place_shapes_take_the_history_along() -> None:
    b = m[:1] * 2
    b.squeeze_(0)
    assert (tuple(b.shape), b.grad_fn.name(), b._version) == ((3,), "SqueezeBackward4", 1)
    assert av.autograd.grad(b.sum(), m)[0].tolist() == [[2.0] * 3, [0.0] * 3, [0.0] * 3]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        av.ones(1, requires_grad=True).squeeze_()


def test_one_tensor_is_joined_too() -> None:
    assert av.hstack([av.tensor(2.0)]).shape == (1,) and av.hstack([av.ones(2, 3)]).shape == (2, 3)
