"""Extrema of all elements or along a dimension (with indices), and order statistics (median, kthvalue)."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import eq, keep_dims, ne, put_at, sum_dim, where
from ...base.readings import composite
from ...base.symbol import call
from ...op.primitive import primitive
from ...op.row import row
from ...tensor.as_array import Array
from .dims import on_vectors

# Note [Ties]
# A reduction may return an index (max with a dim, sort, median with a dim). Then the chosen element gets the whole gradient.
# If it does not (max of all, amax, median of all), all equal elements share the gradient evenly.


max_all = row("max_all", "MaxBackward1", "The largest of all elements.",
    lambda self: np.max(self),
    self = lambda grad, self, result: shared(grad, is_same(self, result)))
min_all = row("min_all", "MinBackward1", "The smallest of all elements.",
    lambda self: np.min(self),
    self = lambda grad, self, result: shared(grad, is_same(self, result)))
amax_dims = row("amax_dims", "AmaxBackward0", "The largest over the dimensions `dim`.",
    lambda self, *, dim, keepdim=False: np.max(self, axis=dim, keepdims=keepdim),
    self = lambda grad, self, result, dim, keepdim:
        shared(keep_dims(grad, self, dim, keepdim), eq(self, keep_dims(result, self, dim, keepdim)), dim))
amin_dims = row("amin_dims", "AminBackward0", "The smallest over the dimensions `dim`.",
    lambda self, *, dim, keepdim=False: np.min(self, axis=dim, keepdims=keepdim),
    self = lambda grad, self, result, dim, keepdim:
        shared(keep_dims(grad, self, dim, keepdim), eq(self, keep_dims(result, self, dim, keepdim)), dim))


@primitive("AminmaxBackward0", results=("min", "max"))
def aminmax_dim(self, *, dim=None, keepdim=False):
    """The smallest and the largest, along `dim` or of all."""
    axis = dim if self.ndim else None
    return np.min(self, axis=axis, keepdims=keepdim), np.max(self, axis=axis, keepdims=keepdim)
aminmax_dim.defvjp(self = lambda grads, self, dim, keepdim, min, max:
    shared(keep_dims(grads[0], self, dim, keepdim), eq(self, keep_dims(min, self, dim, keepdim)), dim)
    + shared(keep_dims(grads[1], self, dim, keepdim), eq(self, keep_dims(max, self, dim, keepdim)), dim))


max_dim = row("max_dim", "MaxBackward0", "The largest along `dim` and its index (the first of equal ones).",
    on_vectors(lambda self, *, dim, keepdim=False: _chosen(self, self.argmax(dim), dim, keepdim)),
    results=("values", "indices"),
    self = lambda grad, indices, self_sym_sizes, dim, keepdim:
        put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))
min_dim = row("min_dim", "MinBackward0", "The smallest along `dim` and its index (the first of equal ones).",
    on_vectors(lambda self, *, dim, keepdim=False: _chosen(self, self.argmin(dim), dim, keepdim)),
    results=("values", "indices"),
    self = lambda grad, indices, self_sym_sizes, dim, keepdim:
        put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))
median_all = row("median_all", "MedianBackward0", "The median of all elements, the lower of two; nan if an element is nan.",
    lambda self: median_dim.forward(self.reshape(-1), dim=0)[0] if self.size else _nothing(self),
    self = lambda grad, self, result: shared(grad, is_same(self, result)))


@primitive("MedianBackward1", results=("values", "indices"))
@on_vectors
def median_dim(self, *, dim, keepdim=False):
    """The median along `dim`, and its index."""
    order = ranked(self, dim)
    middle = np.full((), (self.shape[dim] - 1) // 2)
    if self.dtype.kind == "f":
        middle = np.where(np.isnan(self).any(dim), self.shape[dim] - 1, middle)  # nan is last in the order
    return _chosen(self, _at_rank(order, middle, dim), dim, keepdim)
median_dim.defvjp(self = lambda grad, indices, self_sym_sizes, dim, keepdim:
    put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))


nanmedian_all = row("nanmedian_all", "NanmedianBackward0", "The median of all elements except nan.",
    lambda self: nanmedian_dim.forward(self.reshape(-1), dim=0)[0] if self.size else _nothing(self),
    self = lambda grad, self, result: shared(grad, is_same(self, result)))


@primitive("NanmedianBackward1", results=("values", "indices"))
@on_vectors
def nanmedian_dim(self, *, dim, keepdim=False):
    """The median along `dim` of all elements except nan, and its index."""
    there = self.shape[dim] - np.sum(self != self, axis=dim)
    return _chosen(self, _at_rank(ranked(self, dim), np.maximum(there - 1, 0) // 2, dim), dim, keepdim)
nanmedian_dim.defvjp(self = lambda grad, indices, self_sym_sizes, dim, keepdim:
    put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))


kthvalue_dim = row("kthvalue_dim", "KthvalueBackward0", "The k-th smallest along `dim` (counted from 1), and its index.",
    on_vectors(lambda self, *, k, dim=-1, keepdim=False: _chosen(self, np.take(ranked(self, dim), k - 1, dim), dim, keepdim)),
    results=("values", "indices"),
    self = lambda grad, indices, self_sym_sizes, dim, keepdim:
        put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))


@primitive("ModeBackward0", results=("values", "indices"))
@on_vectors
def mode_dim(self, *, dim=-1, keepdim=False):
    """The most frequent element along `dim` (the smallest of several), and its last index."""
    x = np.moveaxis(self, dim, -1)
    places = np.zeros(x.shape[:-1], np.int64)
    for lead in np.ndindex(x.shape[:-1]):
        values, counts = np.unique(x[lead], return_counts=True)
        places[lead] = np.flatnonzero(is_same_array(x[lead], values[np.argmax(counts)]))[-1]
    return _chosen(self, places, dim, keepdim)
mode_dim.defvjp(self = lambda grad, indices, self_sym_sizes, dim, keepdim:
    put_at(grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim))


argmax_dim = row("argmax_dim", "", "The index of the first largest element, along `dim` or of all.",
    lambda self, *, dim=None, keepdim=False:
        np.argmax(self, axis=dim if self.ndim else None, keepdims=keepdim and self.ndim > 0))
argmin_dim = row("argmin_dim", "", "The index of the first smallest element, along `dim` or of all.",
    lambda self, *, dim=None, keepdim=False:
        np.argmin(self, axis=dim if self.ndim else None, keepdims=keepdim and self.ndim > 0))


@composite(written=lambda grad, chosen, dim=None: call("shared", grad, chosen, *(() if dim is None else (dim,))))
def shared(grad: Any, chosen: Any, dim: Any = None) -> Any:
    """`grad` divided evenly among the chosen elements, 0 elsewhere. See Note [Ties]."""
    if not chosen.ndim:
        return grad * chosen
    if dim is None:
        return where(chosen, grad / sum_dim(chosen, dim=None, keepdim=True), 0)  # 0 too if none is
    return grad * chosen / sum_dim(chosen, dim=(dim,) if isinstance(dim, int) else dim, keepdim=True)


@composite
def is_same(self: Any, result: Any) -> Any:
    """self == result, but nan equals nan."""
    return where(eq(result, result), eq(self, result), ne(self, self))


def is_same_array(x: Array, value: Any) -> Array:
    """x == value, but nan equals nan."""
    return x == value if value == value else x != x


def ranked(self: Array, dim: int) -> Array:
    """The indices that sort the elements along `dim` in rising order, nan last."""
    return np.argsort(self, axis=dim, kind="stable")


def _at_rank(order: Array, rank: Any, dim: int) -> Array:
    """The indices at `rank` in the order."""
    shape = tuple(n for i, n in enumerate(order.shape) if i != dim % order.ndim)
    return np.take_along_axis(order, np.expand_dims(np.broadcast_to(rank, shape), dim), dim).squeeze(dim)


def _chosen(self: Array, places: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The values at these indices, and the indices."""
    places = np.expand_dims(np.asarray(places, np.int64), dim)
    values = np.take_along_axis(self, places, dim)
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def _nothing(self: Array) -> Any:
    """The median of no elements."""
    return np.full((), np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min, self.dtype)
