"""Many elements to fewer: sum and mean."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import check_dim
from ..primitive import primitive
from ..readings import inlined
from ..tensor import Tensor


@primitive("SumBackward0")
def sum_all(self):
    """The sum of all elements; integers add up in int64."""
    return np.sum(self, dtype=np.int64 if self.dtype.kind in "iub" else None)
sum_all.defvjp(
    self = lambda grad, self_sym_sizes: expand(grad, self_sym_sizes),
)


@primitive("SumBackward1")
def sum_dim(self, *, dim, keepdim=False):
    """The sum over the dimensions `dim`."""
    return np.sum(self, axis=dim, keepdims=keepdim, dtype=np.int64 if self.dtype.kind in "iub" else None)
sum_dim.defvjp(
    self = lambda grad, self_sym_sizes, dim, keepdim: sum_backward(grad, self_sym_sizes, dim, keepdim),
)


@primitive("MeanBackward0")
def mean_all(self):
    """The mean of all elements."""
    return np.sum(self) / self.dtype.type(self.size)
mean_all.defvjp(
    self = lambda grad, self_sym_sizes, self_sym_numel: expand(grad, self_sym_sizes) / self_sym_numel,
)


@primitive("MeanBackward1")
def mean_dim(self, *, dim, keepdim=False):
    """The mean over the dimensions `dim`."""
    return np.sum(self, axis=dim, keepdims=keepdim) / self.dtype.type(mean_divisor(self.shape, dim))
mean_dim.defvjp(
    self = lambda grad, self_sym_sizes, self_sym_numel, dim, keepdim:
        sum_backward(grad, self_sym_sizes, dim, keepdim) / mean_divisor(self_sym_sizes, dim),
)


@inlined
def sum_backward(grad: Any, sizes: tuple[int, ...], dim: tuple[int, ...], keepdim: bool) -> Any:
    """Put the summed dimensions back, then expand."""
    if not keepdim:
        for d in sorted(d % len(sizes) for d in dim):
            grad = unsqueeze(grad, dim=d)
    return expand(grad, sizes)


@inlined
def mean_divisor(sizes: tuple[int, ...], dim: tuple[int, ...]) -> int:
    """How many elements each mean was taken over."""
    n = 1
    for d in dim:
        n *= sizes[d]
    return n


def _dims(input: Tensor, dim: Any) -> tuple[int, ...]:
    """The dims to reduce; an empty list means all of them, and a 0-d tensor has none to lose.

    Raises:
        IndexError: out of range.
        RuntimeError: one dim twice.
    """
    dims = tuple(check_dim(d, input.ndim) for d in (dim if isinstance(dim, list | tuple) else (dim,)))
    if not input.ndim:
        return ()
    distinct = {d % input.ndim for d in dims}
    if len(distinct) < len(dims):
        raise RuntimeError(f"dim {dims[-1] % input.ndim} appears multiple times in the list of dims")
    return dims or tuple(range(input.ndim))


def sum(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum of all elements, or over the dimensions `dim`."""
    return sum_all(input) if dim is None else sum_dim(input, dim=_dims(input, dim), keepdim=keepdim)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """The mean of all elements, or over the dimensions `dim`.

    Raises:
        RuntimeError: the type is not floating point.
    """
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype.legacy}"
        )
    return mean_all(input) if dim is None else mean_dim(input, dim=_dims(input, dim), keepdim=keepdim)
