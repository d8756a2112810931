"""Extrema of all elements or along a dimension (with indices), order statistics (median, kthvalue), and their calls."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import names as op
from ...base.names import eq, keep_dims, ne, put_at, sum_dim, where
from ...base.symbol import call
from ...op import Primitive, composite, primitive, renamed, row
from ...tensor import Array, Tensor, refuse_if
from .dims import nonempty_dim, on_vectors, reduced_dims, tensor_call

# Note [Ties]
# A reduction may return an index (max with a dim, sort, median with a dim). Then the chosen element gets the whole gradient.
# If it does not (max of all, amax, median of all), all equal elements share the gradient evenly.

to_index = lambda grad, indices, self_sym_sizes, dim, keepdim: put_at(
    grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=keepdim)
to_equals = lambda grad, self, result: shared(grad, is_same(self, result))
to_equals_along = lambda grad, self, result, dim, keepdim: shared(
    keep_dims(grad, self, dim, keepdim), eq(self, keep_dims(result, self, dim, keepdim)), dim)

max_all = row("max_all", "MaxBackward1", "The largest of all elements.", lambda self: np.max(self), self = to_equals)
min_all = row("min_all", "MinBackward1", "The smallest of all elements.", lambda self: np.min(self), self = to_equals)
amax_dims = row("amax_dims", "AmaxBackward0", "The largest over the dimensions `dim`.",
    lambda self, *, dim, keepdim=False: np.max(self, axis=dim, keepdims=keepdim), self = to_equals_along)
amin_dims = row("amin_dims", "AminBackward0", "The smallest over the dimensions `dim`.",
    lambda self, *, dim, keepdim=False: np.min(self, axis=dim, keepdims=keepdim), self = to_equals_along)


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
    results=("values", "indices"), self = to_index)
min_dim = row("min_dim", "MinBackward0", "The smallest along `dim` and its index (the first of equal ones).",
    on_vectors(lambda self, *, dim, keepdim=False: _chosen(self, self.argmin(dim), dim, keepdim)),
    results=("values", "indices"), self = to_index)
median_all = row("median_all", "MedianBackward0", "The median of all elements, the lower of two; nan if an element is nan.",
    lambda self: median_dim.forward(self.reshape(-1), dim=0)[0] if self.size else _nothing(self), self = to_equals)


@primitive("MedianBackward1", results=("values", "indices"))
@on_vectors
def median_dim(self, *, dim, keepdim=False):
    """The median along `dim`, and its index."""
    order = ranked(self, dim)
    middle = np.full((), (self.shape[dim] - 1) // 2)
    if self.dtype.kind == "f":
        middle = np.where(np.isnan(self).any(dim), self.shape[dim] - 1, middle)  # nan is last in the order
    return _chosen(self, _at_rank(order, middle, dim), dim, keepdim)
median_dim.defvjp(self = to_index)


nanmedian_all = row("nanmedian_all", "NanmedianBackward0", "The median of all elements except nan.",
    lambda self: nanmedian_dim.forward(self.reshape(-1), dim=0)[0] if self.size else _nothing(self), self = to_equals)


@primitive("NanmedianBackward1", results=("values", "indices"))
@on_vectors
def nanmedian_dim(self, *, dim, keepdim=False):
    """The median along `dim` of all elements except nan, and its index."""
    there = self.shape[dim] - np.sum(self != self, axis=dim)
    return _chosen(self, _at_rank(ranked(self, dim), np.maximum(there - 1, 0) // 2, dim), dim, keepdim)
nanmedian_dim.defvjp(self = to_index)


kthvalue_dim = row("kthvalue_dim", "KthvalueBackward0", "The k-th smallest along `dim` (counted from 1), and its index.",
    on_vectors(lambda self, *, k, dim=-1, keepdim=False: _chosen(self, np.take(ranked(self, dim), k - 1, dim), dim, keepdim)),
    results=("values", "indices"), self = to_index)


@primitive("ModeBackward0", results=("values", "indices"))
@on_vectors
def mode_dim(self, *, dim=-1, keepdim=False):
    """The most frequent element along `dim` (the smallest of several), and its last index."""
    x = np.moveaxis(self, dim, -1)
    places = np.zeros(x.shape[:-1], np.int64)
    for lead in np.ndindex(x.shape[:-1]):
        values, counts = np.unique(x[lead], return_counts=True)
        value = values[np.argmax(counts)]
        places[lead] = np.flatnonzero(x[lead] == value if value == value else x[lead] != x[lead])[-1]  # nan equals nan
    return _chosen(self, places, dim, keepdim)
mode_dim.defvjp(self = to_index)


argmax_dim = row("argmax_dim", "", "The index of the first largest element, along `dim` or of all.",
    lambda self, *, dim=None, keepdim=False:
        np.argmax(self, axis=dim if self.ndim else None, keepdims=keepdim and self.ndim > 0).astype(np.int64, copy=False))
argmin_dim = row("argmin_dim", "", "The index of the first smallest element, along `dim` or of all.",
    lambda self, *, dim=None, keepdim=False:
        np.argmin(self, axis=dim if self.ndim else None, keepdims=keepdim and self.ndim > 0).astype(np.int64, copy=False))


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


def ranked(self: Array, dim: int) -> Array:
    """The indices that sort the elements along `dim` in rising order, nan last."""
    return np.argsort(self, axis=dim, kind="stable").astype(np.int64, copy=False)


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


# -- the user's calls: of all elements, along a dim, or (max, min) of two tensors -----------------------------------------

def _refuse_nothing(name: str, input: Tensor, error: type[Exception] = RuntimeError, hint: bool = True) -> None:
    """Refuse to reduce all elements if there are none."""
    if not input.numel():
        more = " Specify the reduction dim with the 'dim' argument." if hint else ""
        raise error(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{more}")


def _extreme(name: str, of_all: Primitive, along: Primitive, of_two: str, which: str) -> Any:
    """The call of max or min."""
    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None) -> Any:
        if isinstance(dim, Tensor):
            dim, other = None, dim
        if other is not None:
            return getattr(op, of_two)(input, other)
        if dim is not None:
            return along(input, dim=nonempty_dim(name, input, dim), keepdim=keepdim)
        _refuse_nothing(name, input)
        return of_all(input)

    does = f"The {which} of all elements. With a dim, also its index. With another tensor, elementwise."
    return tensor_call(name)(renamed(extreme, name, does))


def _over_dims(name: str, over: Primitive, which: str) -> Any:
    """The call of amax or amin."""
    def extreme(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
        dim = () if dim is None else dim
        dims = reduced_dims(input, dim)
        if not input.numel():
            if dim == ():
                _refuse_nothing(name, input)
            for d in dims:
                nonempty_dim(name, input, d)
        return over(input, dim=dims, keepdim=keepdim)

    does = f"The {which} over the dimensions `dim`. Equal elements share the gradient."
    return tensor_call(name)(renamed(extreme, name, does))


def _place(name: str, along: Primitive, which: str) -> Any:
    """The call of argmax or argmin."""
    def place(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        refuse_if(input.dtype.name == "bool", lambda: f"{name}(): does not support bool input")
        if dim is not None:
            nonempty_dim(name, input, dim)
        else:
            _refuse_nothing(name, input, IndexError, hint=False)
        return along(input, dim=dim, keepdim=keepdim)

    return tensor_call(name)(renamed(place, name, f"The index of the {which} element, along `dim` or of all."))


def _median(name: str, of_all: Primitive, along: Primitive, does: str) -> Any:
    """The call of median or nanmedian."""
    def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        return of_all(input) if dim is None else along(input, dim=nonempty_dim("median", input, dim), keepdim=keepdim)

    return tensor_call(name)(renamed(median, name, does))


max = _extreme("max", max_all, max_dim, "maximum", "largest")
min = _extreme("min", min_all, min_dim, "minimum", "smallest")
amax, amin = _over_dims("amax", amax_dims, "largest"), _over_dims("amin", amin_dims, "smallest")
argmax, argmin = _place("argmax", argmax_dim, "largest"), _place("argmin", argmin_dim, "smallest")
median = _median("median", median_all, median_dim,
    "The median of all elements, or along `dim` with its index. Of two middle elements, the lower.")
nanmedian = _median("nanmedian", nanmedian_all, nanmedian_dim, "The median of all elements except nan.")


@tensor_call()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest. Raises RuntimeError: there are no elements."""
    if dim is not None:
        nonempty_dim("aminmax", input, dim, "")
    elif not input.numel():
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    return aminmax_dim(input, dim=dim, keepdim=keepdim)


@tensor_call()
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along `dim`, and its index."""
    return mode_dim(input, dim=nonempty_dim("mode", input, dim), keepdim=keepdim)


@tensor_call()
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest along `dim`, and its index. Raises RuntimeError: k is out of range."""
    nonempty_dim("kthvalue", input, dim)
    if not 1 <= k <= (input.shape[dim] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % (input.ndim or 1)}")
    return kthvalue_dim(input, k=k, dim=dim, keepdim=keepdim)
