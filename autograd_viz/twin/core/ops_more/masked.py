"""Reductions over the elements where a mask is True. Other elements get a neutral value, such as 0 for a sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import names as op
from ..base.public import public
from ..ops.activation import softmax
from ..ops.reduce import cumulative, extrema, norms, reduction
from ..ops.reduce.dims import reduced_dims
from ..tensor.tensor import Tensor


def _neutral(name: str, dtype: Any) -> Any:
    """The neutral value of a reduction: 0 for a sum, the smallest number of the type for a maximum."""
    if name in ("sum", "cumsum", "norm"):
        return 0
    if name in ("prod", "cumprod"):
        return 1
    if name == "median":
        return float("nan")
    sign = 1 if name in ("amin", "argmin", "softmin") else -1
    if dtype.is_floating_point or dtype.is_complex:
        return sign * float("inf")
    limits = np.iinfo(dtype.numpy)
    return limits.max if sign > 0 else limits.min


def _given(name: str, input: Tensor, mask: Tensor | None, fill: Any = None) -> Any:
    """The input with a neutral value where the mask is False."""
    if mask is None:
        return input
    return op.where(_mask(input, mask), input, _neutral(name, input.dtype) if fill is None else fill)


def _mask(input: Tensor, mask: Tensor) -> Tensor:
    """The mask in the shape of the input.

    Raises:
        IndexError: it has more dimensions.
    """
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return Tensor(np.broadcast_to(mask._data, input.shape).astype(bool))


def _all_dims(input: Tensor, dim: Any) -> tuple[int, ...]:
    dims = reduced_dims(input, () if dim is None else dim)
    return tuple(sorted(d % input.ndim for d in dims))


def _count(input: Tensor, dim: Any, keepdim: Any, mask: Tensor | None) -> Any:
    """The number of elements where the mask is True."""
    there = np.ones(input.shape, bool) if mask is None else _mask(input, mask)._data
    return Tensor(np.sum(there, axis=_all_dims(input, dim), keepdims=bool(keepdim), dtype=np.int64))


@public("masked.sum")
def sum(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Tensor | None = None) -> Any:
    """The sum of the elements where the mask is True."""
    given = _given("sum", input, mask)
    return reduction.sum_dim(given, dim=_all_dims(input, dim), keepdim=bool(keepdim), dtype=dtype)


@public("masked.prod")
def prod(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Tensor | None = None) -> Any:
    """The product of the elements where the mask is True."""
    result = _given("prod", input, mask)
    for d in reversed(_all_dims(input, dim) if input.ndim or dim in (None, ()) else (0,)):
        result = cumulative.prod_dim(result, dim=d, keepdim=bool(keepdim), dtype=dtype)
    return result


def _extreme(name: str, what: str, found: Callable[..., Any]) -> None:
    """Publish a search for the largest or smallest, or its index. `found` takes the input, the dimensions and keepdim."""

    def masked(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Tensor | None = None) -> Any:
        dtype = dtype or (input.dtype if name.startswith("arg") else None)
        return _cast(found(_given(name, input, mask), dim, bool(keepdim)), dtype)

    masked.__name__ = masked.__qualname__ = name
    masked.__doc__ = f"{what} element where the mask is True."
    public(f"masked.{name}")(masked)


_extreme("amax", "The largest", lambda x, dim, keep: op.amax_dims(x, dim=_all_dims(x, dim), keepdim=keep))
_extreme("amin", "The smallest", lambda x, dim, keep: op.amin_dims(x, dim=_all_dims(x, dim), keepdim=keep))
_extreme("argmax", "The index of the largest", extrema.argmax)
_extreme("argmin", "The index of the smallest", extrema.argmin)


@public("masked.mean")
def mean(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Tensor | None = None) -> Any:
    """The mean of the elements where the mask is True."""
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dim, keepdim, mask)


@public("masked.median")
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Any:
    """The median of the elements where the mask is True."""
    return _cast(extrema.nanmedian(_given("median", input, mask), dim, keepdim).values, dtype)


@public("masked.var")
def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: Any = False,
    dtype: Any = None, mask: Tensor | None = None,
) -> Any:  # fmt: skip
    """The variance of the elements where the mask is True."""
    correction = (1 if unbiased in (None, True) else 0) if correction is None else correction
    distance = _cast(input, dtype) - mean(input, dim, keepdim=True, dtype=dtype, mask=mask)
    total = sum(
        distance * (distance.conj() if distance.dtype.is_complex else distance), dim, keepdim=keepdim, dtype=dtype, mask=mask
    )
    count = _count(input, dim, keepdim, mask)._data - correction
    return total / Tensor(np.maximum(count, 0))


@public("masked.std")
def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: Any = False,
    dtype: Any = None, mask: Tensor | None = None,
) -> Any:  # fmt: skip
    """The standard deviation of the elements where the mask is True."""
    options = {"correction": correction, "keepdim": keepdim, "dtype": dtype, "mask": mask}
    return op.sqrt(var(input, dim, unbiased, **options))


@public("masked.norm")
def norm(
    input: Tensor, ord: Any = 2.0, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Tensor | None = None
) -> Any:
    """The norm of the elements where the mask is True."""
    given = _given("norm", input, mask, None if ord >= 0 else float("inf"))
    return norms.vector_norm(given, ord, _all_dims(input, dim), bool(keepdim), dtype=dtype)


@public("masked.normalize")
def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None) -> Any:
    """The elements where the mask is True, divided by their norm."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _given("norm", _cast(input, dtype), mask) / op.maximum(length, Tensor(np.full_like(length._data, eps)))


@public("masked.logsumexp")
def logsumexp(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Tensor | None = None) -> Any:
    """log of the sum of exp over the elements where the mask is True."""
    given = _given("logsumexp", _cast(input, dtype), mask)
    return softmax.logsumexp_dims(given, dim=_all_dims(input, dim), keepdim=bool(keepdim))


@public("masked.logaddexp")
def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None
) -> Any:
    """logaddexp. A masked element counts as -inf."""
    one, two = (_given("logaddexp", _cast(x, dtype), m) for x, m in ((input, input_mask), (other, other_mask)))
    return op.logaddexp(one, two)


def _along(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The masked form of a function along one dimension."""

    def masked(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Any:
        return function(_given(name, _cast(input, dtype), mask), dim)

    masked.__name__, masked.__doc__ = name, f"{name} of the elements where the mask is True."
    return public(f"masked.{name}")(masked)


def _cast(input: Tensor, dtype: Any) -> Any:
    return input if dtype is None else input.to(dtype)


cumsum, cumprod = _along("cumsum", cumulative.cumsum), _along("cumprod", cumulative.cumprod)
_along("softmax", softmax.softmax)
log_softmax, softmin = _along("log_softmax", softmax.log_softmax), _along("softmin", softmax.softmin)
