"""scatter_reduce: values for the same index are summed, multiplied, averaged, or their extreme is taken."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.names import eq, gather, scatter_add, scatter_scalar, where, zeros_like
from ..op import composite, primitive, public
from ..ops.index.gather_scatter import check_index, scattered
from ..tensor import Tensor, refuse, refuse_if

COMBINE = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amin": np.minimum, "amax": np.maximum}
NEUTRAL = {"sum": 0, "mean": 0, "prod": 1}


def combined(out, at, src, reduce, include_self) -> None:
    """Combine `src` into out[at], in place."""
    if reduce in ("amin", "amax"):
        refuse(out, "c", f"scatter_gather_tensor_cpu_reduce_{reduce}")
    if not include_self:
        out[at] = NEUTRAL.get(reduce) if reduce in NEUTRAL else extreme(out.dtype, reduce)
    COMBINE[reduce].at(out, at, src)
    if reduce == "mean":
        count = np.ones_like(out)
        if not include_self:
            count[at] = 0
        np.add.at(count, at, 1)
        out[...] = out / count if out.dtype.kind in "fc" else out // count


def extreme(numpy_dtype, reduce) -> Any:
    """The start value of a minimum or maximum: the largest or smallest number of the type."""
    if numpy_dtype.kind == "f":
        return np.inf if reduce == "amin" else -np.inf
    return np.iinfo(numpy_dtype).max if reduce == "amin" else np.iinfo(numpy_dtype).min


@primitive("ScatterReduceBackward0")
def scatter_reduce_src(self, src, *, dim, index, reduce, include_self=True):
    """A copy of self, with src[i, j] combined into out[i, index[i, j]] for dim = 1."""
    check_index("scatter_reduce", index)
    return scattered(self, dim, index, src, lambda out, at, part: combined(out, at, part, reduce, include_self))


def of_self(grad, self, src, dim, index, reduce, include_self, result) -> Any:
    """The gradient of the old values; zero if they were excluded."""
    if reduce == "sum":
        part = grad
    elif reduce == "mean":
        part = grad / how_many(self, src, dim, index, include_self)
    elif reduce == "prod":
        part = grad * product_of_sources(self, src, dim, index)
    else:
        part = grad * eq(self, result) / ties(self, src, dim, index, result, include_self)
    return part if include_self else scatter_scalar(part, dim=dim, index=index, value=0)


def of_source(grad, self, src, dim, index, reduce, include_self, result) -> Any:
    """The gradient of the new values."""
    if reduce == "sum":
        return gather(grad, dim=dim, index=index)
    if reduce == "mean":
        return gather(grad / how_many(self, src, dim, index, include_self), dim=dim, index=index)
    if reduce == "prod":
        return gather(grad, dim=dim, index=index) * product_of_others(self, src, dim, index, include_self, result)
    share = gather(grad / ties(self, src, dim, index, result, include_self), dim=dim, index=index)
    return share * eq(src, gather(result, dim=dim, index=index))
scatter_reduce_src.defvjp(self = of_self, src = of_source)


# fmt: on
@composite
def how_many(self: Any, src: Any, dim: int, index: Any, include_self: bool) -> Any:
    """The number of values combined at each index."""
    start = zeros_like(self) + 1 if include_self else scatter_scalar(zeros_like(self) + 1, dim=dim, index=index, value=0)
    return scatter_add(start, zeros_like(src) + 1, dim=dim, index=index)


@composite
def ties(self: Any, src: Any, dim: int, index: Any, result: Any, include_self: bool) -> Any:
    """The number of combined values that equal the extreme, at each index."""
    own = eq(self, result) * (zeros_like(self) + 1)
    return scatter_add(own, eq(src, gather(result, dim=dim, index=index)) * (zeros_like(src) + 1), dim=dim, index=index)


@composite
def product_of_sources(self: Any, src: Any, dim: int, index: Any) -> Any:
    """The product of the new values at each index."""
    return scatter_reduce_src(zeros_like(self) + 1, src, dim=dim, index=index, reduce="prod", include_self=True)


@composite
def product_of_others(self: Any, src: Any, dim: int, index: Any, include_self: bool, result: Any) -> Any:
    """For each new value, the product of all others at its index: result / value, or the product without a single zero."""
    zero = eq(src, 0)
    zeros = scatter_add(zeros_like(self), zero * (zeros_like(src) + 1), dim=dim, index=index)
    lone = zero * eq(gather(zeros, dim=dim, index=index), 1)
    hidden = scatter_reduce_src(
        self, where(lone, zeros_like(src) + 1, src), dim=dim, index=index, reduce="prod", include_self=include_self
    )
    whole = gather(result, dim=dim, index=index) / where(zero, zeros_like(src) + 1, src)
    return where(lone, gather(hidden, dim=dim, index=index), whole)


@public("scatter_reduce", inplace=True)
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Any:
    """Combine `src` into `input` at `index` along `dim`: sum, prod, mean, amax or amin. Raises RuntimeError: another one."""
    refuse_if(reduce not in COMBINE, lambda: f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return scatter_reduce_src(input, src, dim=dim, index=index, reduce=reduce, include_self=include_self)
