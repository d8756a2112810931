"""Sums, means and counts."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import eq, expand, keep_dims, unsqueeze
from ...op import Primitive, inlined, primitive, public, renamed, row
from ...tensor.tensor import Tensor
from .dims import optional_dims, reduced_dims, result_type, tensor_call

sum_all = row("sum_all", "SumBackward0", "The sum of all elements. Integers are summed in int64.",
    lambda self, *, dtype=None: np.add.reduce(self, axis=None, dtype=result_type(self, dtype)))
sum_dim = row("sum_dim", "SumBackward1", "The sum over the dimensions `dim`.",
    lambda self, *, dim, keepdim=False, dtype=None:
        np.add.reduce(self, axis=dim, keepdims=keepdim, dtype=result_type(self, dtype)))


@primitive("MeanBackward0")
def mean_all(self, *, dtype=None):
    """The mean of all elements."""
    kind = self.dtype if dtype is None else dtype.numpy  # whole numbers have no mean
    return np.add.reduce(self, axis=None, dtype=kind) / self.size


@primitive("MeanBackward1")
def mean_dim(self, *, dim, keepdim=False, dtype=None):
    """The mean over the dimensions `dim`."""
    kind = result_type(self, dtype)
    return np.add.reduce(self, axis=dim, keepdims=keepdim, dtype=kind) / kind.type(mean_divisor(self.shape, dim))


nansum_dim = row("nansum_dim", "NansumBackward0", "The sum over the dimensions `dim`. nan counts as 0.",
    lambda self, *, dim, keepdim=False, dtype=None: np.nansum(self, axis=dim, keepdims=keepdim, dtype=result_type(self, dtype)),
    self = lambda grad, self, dim, keepdim: keep_dims(grad, self, dim, keepdim) * eq(self, self))  # nan differs from itself


@inlined
def sum_backward(grad: Any, sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Restore the summed dimensions, then expand."""
    if not keepdim and dim is not None:
        for d in sorted(d % len(sizes) for d in dim):
            grad = unsqueeze(grad, dim=d)
    return expand(grad, sizes)


@inlined
def mean_divisor(sizes: tuple[int, ...], dim: Any) -> int:
    """The number of elements in each mean."""
    n = 1
    for d in range(len(sizes)) if dim is None else dim:
        n *= sizes[d]
    return n


all_dims = row("all_dims", "", "True where no element along `dim` is 0.",
    lambda self, *, dim, keepdim=False: np.all(self, axis=dim, keepdims=keepdim).astype(_truth_type(self)))
any_dims = row("any_dims", "", "True where an element along `dim` is not 0.",
    lambda self, *, dim, keepdim=False: np.any(self, axis=dim, keepdims=keepdim).astype(_truth_type(self)))
count_nonzero_dims = row("count_nonzero_dims", "", "The number of nonzero elements along `dim`.",
    lambda self, *, dim: np.sum(self != 0, axis=dim, dtype=np.int64))


def _truth_type(self: Any) -> Any:
    return np.uint8 if self.dtype == np.uint8 else np.bool_


@tensor_call
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or over the dimensions `dim`."""
    if dim is None and not keepdim:
        return sum_all(input, dtype=dtype)
    return sum_dim(input, dim=reduced_dims(input, () if dim is None else dim), keepdim=keepdim, dtype=dtype)


@tensor_call
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements, or over the dimensions `dim`.

    Raises:
        RuntimeError: the type is not floating point.
    """
    kind = dtype or input.dtype
    if not kind.is_floating_point and not kind.is_complex:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Optional' if dtype else 'Input'} dtype must be either a floating point "
            f"or complex dtype. Got: {kind.legacy}"
        )
    if dim is None and not keepdim:
        return mean_all.program(input, dtype)
    return mean_dim(input, dim=reduced_dims(input, () if dim is None else dim), keepdim=keepdim, dtype=dtype)


@tensor_call
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over the dimensions `dim`. nan counts as 0.

    Raises:
        RuntimeError: complex numbers.
    """
    if input.dtype.is_complex:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if not input.dtype.is_floating_point:
        return sum(input, dim, keepdim, dtype=dtype)
    return nansum_dim(input, dim=optional_dims(input, dim), keepdim=keepdim, dtype=dtype)


@tensor_call
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements except nan.

    Raises:
        RuntimeError: the type is not floating point.
    """
    if input._data.dtype.kind not in "fc":
        kind = input.dtype.legacy
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {kind}")
    there = input.detach() == input.detach()
    return nansum(input, dim, keepdim, dtype=dtype) / sum(there, dim, keepdim)


def _truth(name: str, over: Primitive, does: str) -> Any:
    """The call of all or any."""
    def truth(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        return over(input, dim=() if dim in ([], ()) else optional_dims(input, dim), keepdim=keepdim)

    return tensor_call(name)(renamed(truth, name, does))


all, any = _truth("all", all_dims, "True if no element is 0."), _truth("any", any_dims, "True if an element is not 0.")


@tensor_call
def count_nonzero(input: Tensor, dim: Any = None) -> Any:
    """The number of nonzero elements."""
    return count_nonzero_dims(input, dim=optional_dims(input, dim))


@public("Tensor.sum_to_size")
def sum_to_size(self: Tensor, *size: Any) -> Any:
    """Sum over the dimensions that broadcasting from `size` would have expanded.

    Raises:
        RuntimeError: `size` does not broadcast to this shape.
    """
    wanted = tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else size
    lead = self.ndim - len(wanted)
    if lead < 0 or {True} != {w in (1, n) for w, n in zip(wanted, self.shape[lead:], strict=True)} | {True}:
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(self.shape)}}}.")
    if not wanted:
        return sum_all(self)
    dims = tuple(i for i, n in enumerate(self.shape) if i < lead or (wanted[i - lead] == 1 and n != 1))
    summed = sum_dim(self, dim=dims, keepdim=True) if dims else self
    return summed.view(wanted) if lead else summed
