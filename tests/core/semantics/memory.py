"""Programs about tensors that get other memory, or other tensors' kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program, told


@program
def a_tensor_gets_the_memory_of_another(torch: Any) -> Iterator[Any]:
    x, source = torch.ones(2), torch.zeros(3)
    yield x.set_(source) is x, x, x._version, x.data_ptr() == source.data_ptr(), source._version
    x.add_(1)
    yield source, source._version, x._version
    yield x.set_(torch.arange(6.0), 1, (2,), (2,)).tolist(), x.set_(torch.arange(6.0), 2, (2, 2)).tolist(), x.set_(), x.shape
    yield told(lambda: x.set_(torch.ones(2, dtype=torch.int64))), told(lambda: x.set_(3))[:9]
    yield told(lambda: leaf(torch, 1.0, 2.0).set_(torch.ones(2)))


@program
def a_leaf_with_other_memory_is_another_leaf(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    edge = torch.autograd.graph.get_gradient_edge(x)
    y = x.clone()
    with torch.no_grad():
        x.set_(torch.zeros(2))
    yield x, x._version, x.is_leaf, told(lambda: torch.autograd.grad(y.sum(), x)), torch.autograd.grad(y.sum(), edge)


@program
def a_tensor_gets_longer_and_shorter(torch: Any) -> Iterator[Any]:
    x = torch.arange(6.0).reshape(2, 3)
    for size in ((3, 2), (2, 2), (6,), ((2, 1),)):
        yield x.resize_(*size) is x, x, x._version, x.stride()
    turned, lower = torch.arange(12.0).reshape(3, 4).t(), torch.arange(12.0).reshape(3, 4)[1:]
    yield turned.resize_(2, 3), turned.stride(), lower.resize_(2, 3), lower.resize_as_(torch.ones(2, 2)), lower._is_view()
    grown = torch.ones(2).resize_(2, 3)
    yield grown.shape, grown.stride(), grown[0, :2]
    yield told(lambda: x.resize_("a")), told(lambda: x.resize_(1.5))
    yield told(lambda: leaf(torch, 1.0, 2.0).resize_(1)), told(lambda: (leaf(torch, 1.0, 2.0) * 1).resize_(1))


@program
def a_new_tensor_of_the_same_type(torch: Any) -> Iterator[Any]:
    x, whole = torch.ones(2), torch.ones(2, dtype=torch.int64)
    yield x.new(3).shape, x.new(2, 3).dtype, x.new([1, 2]), x.new((2, 3)), x.new(), whole.new([1.5]), x.new(whole.shape).shape
    yield x.new(size=(2, 2)).shape, told(lambda: x.new(3.5)), told(lambda: x.new("a")), told(lambda: x.new(whole))[:9]
    other = leaf(torch, 1.0, 2.0)
    yield x.new(other).data_ptr() == other.data_ptr(), x.new(other) is other, x.new(other).requires_grad
    for made in (x.new_ones, x.new_zeros, x.new_empty):
        yield made(2, 3).shape, made((2, 3), dtype=torch.int64).dtype, made(2, requires_grad=True).is_leaf
        yield told(lambda made=made: made(2, dtype=torch.int64, requires_grad=True))
    yield x.new_full((2,), 3.0), x.new_full((2,), 3, dtype=torch.int64), x.new_tensor([1, 2]), whole.new_tensor([1.5])
