"""Quantiles: sort, then interpolate at the wanted rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import names as op
from ..base.public import public
from ..ops.reduce.arranging import sort_dim
from ..ops.reduce.dims import of_tensor
from ..tensor.arguments import from_front
from ..tensor.tensor import Tensor

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@public
@of_tensor
def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The value below which a fraction q of the elements lies."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@public
@of_tensor
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
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if input.dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if isinstance(q, Tensor) and q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if isinstance(q, Tensor) and q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if isinstance(q, Tensor):
        if not ((q._data >= 0) & (q._data <= 1)).all():
            raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
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
