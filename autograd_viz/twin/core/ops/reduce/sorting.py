"""Sorting. It moves values, so each gradient goes back to the index of its value."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.memory import laid_out_for
from ...base.names import put_at
from ...op import primitive, row
from ...tensor import Array, Tensor, check_dim
from .dims import on_vectors, tensor_call

to_index = lambda grad, indices, self_sym_sizes, dim: put_at(
    grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=True)


@primitive("SortBackward0", results=("values", "indices"))
@on_vectors
def sort_dim(self, *, dim=-1, descending=False):
    """The sorted elements along `dim`, and their indices in self."""
    order = in_order(self, dim, descending)
    return tuple(laid_out_for(a, [list(self.strides)]) for a in (np.take_along_axis(self, order, dim), order))
sort_dim.defvjp(self = to_index)


sort_stable = row("sort_stable", "SortBackward1", "Like sort, as PyTorch's overload with `stable`. Ours is always stable.",
    on_vectors(lambda self, *, dim=-1, descending=False, stable=None: sort_dim.forward(self, dim=dim, descending=descending)),
    results=("values", "indices"), returns="sort", self = to_index)


@primitive("TopkBackward0", results=("values", "indices"))
@on_vectors
def topk_dim(self, *, k, dim=-1, largest=True):
    """The k largest (or smallest) along `dim`, sorted, and their indices in self."""
    order = np.take(in_order(self, dim, largest), np.arange(k), dim)
    return np.take_along_axis(self, order, dim), order
topk_dim.defvjp(self = to_index)


argsort_dim = row("argsort_dim", "", "The indices that sort the elements along `dim`.",
    on_vectors(lambda self, *, dim=-1, descending=False: in_order(self, dim, descending)))


def in_order(self: Array, dim: int, descending: bool) -> Array:
    """The indices that sort along `dim`. Equal elements keep their order, and nan counts as the largest."""
    if not descending:
        return np.argsort(self, axis=dim, kind="stable")
    backwards = np.argsort(np.flip(self, dim), axis=dim, kind="stable")
    return np.flip(self.shape[dim] - 1 - backwards, dim)


@tensor_call()
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None) -> Any:
    """The sorted elements along `dim`, and their indices in `input`."""
    check_dim(dim, input.ndim)
    if stable is not None:
        return sort_stable(input, dim=dim, descending=descending, stable=stable)
    return sort_dim(input, dim=dim, descending=descending)


@tensor_call("torch.msort", "Tensor.msort")
def msort(input: Tensor) -> Any:
    """The elements, sorted along the first dimension."""
    return sort_dim(input, dim=0).values


@tensor_call()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that sort the elements along `dim`."""
    return argsort_dim(input, dim=check_dim(dim, input.ndim), descending=descending)


@tensor_call()
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest along `dim`, and their indices.

    Raises:
        RuntimeError: k is out of range.
    """
    check_dim(dim, input.ndim)
    if not 0 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return topk_dim(input, k=k if input.ndim else 1, dim=dim, largest=largest)
