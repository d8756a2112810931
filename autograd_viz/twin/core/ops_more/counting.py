"""Unique values, counts, histograms, sorted search (without a gradient), and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import names as op
from ..base.names import no_derivative, no_derivative_of
from ..op import primitive, public
from ..op.table import return_type
from ..ops.reduce.arranging import sort_dim
from ..ops.reduce.dims import tensor_call
from ..tensor import Tensor, check_dim, from_front, refuse, refuse_if


@primitive("Unique2Backward0", several=True)
def distinct_values(self, *, dim=None):
    """The unique values, sorted; for each element the index of its value; and the count of each value."""
    values, places, counts = np.unique(self, axis=dim, return_inverse=True, return_counts=True)
    return values, places.reshape(self.shape if dim is None else -1), counts


distinct_values.defvjp(self=lambda grads: no_derivative_of("_unique2"))


@primitive("UniqueConsecutiveBackward0", several=True)
def distinct_runs(self, *, dim=None):
    """Like `distinct_values`, but only adjacent equal values are merged."""
    x = self.reshape(-1) if dim is None else np.moveaxis(self, dim, 0)
    differs = (x[1:] != x[:-1]).reshape(max(len(x) - 1, 0), -1).any(1)
    starts = np.concatenate([np.ones(min(len(x), 1), bool), differs])
    places, firsts = np.cumsum(starts) - 1, np.flatnonzero(starts)
    values = x[starts] if dim is None else np.moveaxis(x[starts], 0, dim)
    return values, places.reshape(self.shape) if dim is None else places, np.diff(np.append(firsts, len(x)))


distinct_runs.defvjp(self=lambda grads: no_derivative_of("unique_consecutive"))


def _results(found: Any, inverse: bool, counts: bool) -> Any:
    """The values, and the other results that the caller asked for."""
    values, places, numbers = found
    results = (values, *((places,) if inverse else ()), *((numbers,) if counts else ()))
    return results if len(results) > 1 else values


@tensor_call("unique")
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The unique values, sorted."""
    return _results(distinct_values(input, dim=dim), return_inverse, return_counts)


@tensor_call("unique_consecutive")
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The values, with adjacent repetitions removed."""
    if dim is not None:
        dim = check_dim(dim, input.ndim)
    return _results(distinct_runs(input, dim=dim), return_inverse, return_counts)


@primitive("torch::autograd::NotImplemented")
def count_values(self, weights=None, *, minlength=0):
    """The count (or total weight) of each whole number."""
    counts = np.bincount(self.astype(np.intp, copy=False), weights, minlength)
    return counts.astype(weights.dtype if weights is not None and weights.dtype.kind == "f" else np.int64)


count_values.defvjp(weights=lambda grad: no_derivative("bincount"))


@tensor_call("bincount")
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """The count of each whole number.

    Raises NotImplementedError: floating point numbers. RuntimeError: not a vector of whole numbers from 0 on.
    """
    refuse(input, "fc", "bincount_cpu")
    refuse_if(minlength < 0, "minlength should be >= 0")
    if input.ndim != 1 or input._data.dtype.kind not in "iu" or (input._data < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    refuse_if(weights is not None and weights.shape != input.shape, "weights should be 1-d and have the same length as input")
    return count_values(input, weights, minlength=minlength)


@primitive(several=True)
def histogram_bins(self, *, bins, low, high, weight=None):
    """The number of elements between adjacent edges, and the edges. An empty range becomes that of all elements."""
    if low == high and self.size:
        low, high = float(self.min()), float(self.max())
    span = (low - 1, high + 1) if low == high else (low, high)  # around elements that are all equal
    counts, edges = np.histogram(self, bins, span if isinstance(bins, int) else None, weights=weight)
    return counts.astype(self.dtype), edges.astype(self.dtype)


@tensor_call("histc")
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """The number of elements in each of `bins` equal parts of a range. Raises RuntimeError: no bins, or a reversed range."""
    refuse_if(bins <= 0, lambda: f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    refuse_if(max < min, "torch.histc: max must be larger than min")
    return histogram_bins(input, bins=bins, low=min, high=max)[0]


@tensor_call("histogram")
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Tensor | None = None, density: bool = False) -> Any:
    """The number of elements between adjacent edges, and the edges."""
    low, high = range or (0, 0)
    counts, edges = histogram_bins(input, bins=bins, low=low, high=high, weight=weight)
    if density:
        counts = counts / (counts.sum() * Tensor(np.diff(edges._data)))
    return return_type("histogram", "hist", "bin_edges")(counts, edges)


@primitive()
def insertion_points(self, *, values, right=False):
    """The insertion indices of the values in the last, sorted, dimension (after equal elements, if `right`)."""
    side: Any = "right" if right else "left"
    if self.ndim == 1:
        return np.asarray(np.searchsorted(self, values, side), np.int64)
    rows = zip(self.reshape(-1, self.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
    return np.array([np.searchsorted(row, v, side) for row, v in rows], np.int64).reshape(values.shape)


@public("torch.searchsorted")
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None
) -> Any:
    """The insertion indices of the values in a sorted sequence."""
    values = input if isinstance(input, Tensor) else Tensor(np.asarray(input))
    right = right if side is None else side == "right"
    found = insertion_points(sorted_sequence, values=values, right=right)
    return found.int() if out_int32 else found


@public("torch.bucketize")
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Any:
    """The index of the bucket of each value, between sorted boundaries. Raises RuntimeError: `boundaries` is not a vector."""
    refuse_if(boundaries.ndim != 1, lambda: f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@tensor_call("quantile")
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The value below which a fraction q of the elements lies."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@tensor_call("nanquantile")
def nanquantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The value below which a fraction q of the elements lies. nan is ignored."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str) -> Any:
    _check(name, input, q, interpolation)
    q = q if isinstance(q, Tensor) else Tensor(np.asarray(q, input.dtype.numpy))
    ordered = _sorted_last(input, dim, keepdim)
    ranks = _ranks(name, ordered, q if q.ndim else q.unsqueeze(0))
    rounding: Any = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}.get(interpolation)
    below = np.asarray((rounding or np.floor)(ranks._data), np.int64)
    values = op.gather(ordered, dim=-1, index=Tensor(below))
    if rounding is None:
        above = Tensor(np.ceil(ranks._data).astype(np.int64))
        between = ranks - Tensor(below) if interpolation == "linear" else Tensor(np.full_like(ranks._data, 0.5))
        values = op.lerp_tensor(values, op.gather(ordered, dim=-1, index=above), between)
    if q.ndim:
        values = values.unsqueeze_(0).transpose_(0, -1)
    return values.squeeze_(-1)


def _check(name: str, input: Tensor, q: Any, interpolation: str) -> None:
    """Refuse arguments that have no quantile."""
    refuse_if(not input.numel(), lambda: f"{name}() input tensor must be non-empty")
    if input.dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    refuse_if(isinstance(q, Tensor) and q.ndim > 1, lambda: f"{name}() q must be a scalar or 1D tensor")
    if isinstance(q, Tensor) and q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if isinstance(q, Tensor):
        refuse_if(not ((q._data >= 0) & (q._data <= 1)).all(), lambda: f"{name}() q values must be in the range [0, 1]")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")


def _sorted_last(input: Tensor, dim: int | None, keepdim: bool) -> Any:
    """The elements, sorted along a last dimension, after the dimensions of the result."""
    sizes = list(input.shape)
    if dim is None:
        line, sizes = input if input.ndim == 1 else input.reshape(-1), [1] * input.ndim if keepdim else []
    else:
        at = from_front(dim, input.ndim)
        line = input if at == input.ndim - 1 else op.transpose_dims(op.unsqueeze(input, dim=-1), dim0=at, dim1=-1)
        if sizes:
            sizes[at : at + 1] = [1] if keepdim else []
    return op.view_sizes(sort_dim(line, dim=-1).values, size=(*sizes, line.shape[-1]))


def _ranks(name: str, ordered: Tensor, q: Tensor) -> Any:
    """The rank of each q between the first and the last element. It is the last (nan) if a nan makes the result nan."""
    nans = np.isnan(ordered._data)
    last = ordered.shape[-1] - 1
    if name == "nanquantile":
        ranks = q * Tensor((last - nans.sum(-1, keepdims=True)).astype(q._data.dtype))
        return ranks.masked_fill(Tensor(ranks._data < 0), 0)
    ranks = op.mul_scalar(q, other=last)
    tainted = nans.any(-1, keepdims=True)
    sizes = np.broadcast_shapes(ranks.shape, tainted.shape)
    ranks = ranks if ranks.shape == sizes else op.expand_sizes(ranks, size=sizes)
    return ranks.masked_fill(Tensor(np.broadcast_to(tainted, sizes)), last)
