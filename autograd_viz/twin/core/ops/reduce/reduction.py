"""Sums, means, counts, variances and standard deviations."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import eq, expand, keep_dims, unsqueeze, where, zeros_like
from ...op import Primitive, composite, inlined, primitive, public, renamed, row
from ...tensor import Array, Tensor, refuse_if
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


@tensor_call()
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or over the dimensions `dim`."""
    if dim is None and not keepdim:
        return (sum_all._program or sum_all.program)(input, dtype)
    return sum_dim(input, dim=reduced_dims(input, () if dim is None else dim), keepdim=keepdim, dtype=dtype)


@tensor_call()
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements, or over the dimensions `dim`. Raises RuntimeError: the type is not floating point."""
    if dim is dtype is None and not keepdim and input._data.dtype.kind == "f":
        return (mean_all._program or mean_all.program)(input)
    kind = dtype or input.dtype
    if not kind.is_floating_point and not kind.is_complex:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Optional' if dtype else 'Input'} dtype must be either a floating point "
            f"or complex dtype. Got: {kind.legacy}"
        )
    if dim is None and not keepdim:
        return mean_all(input, dtype=dtype)
    return mean_dim(input, dim=reduced_dims(input, () if dim is None else dim), keepdim=keepdim, dtype=dtype)
mean_all.enter(mean, "mean", "isinstance(self, Tensor) and self._data.dtype.kind == 'f'")


@tensor_call()
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over the dimensions `dim`. nan counts as 0. Raises RuntimeError: complex numbers."""
    refuse_if(input.dtype.is_complex, "nansum on CPU does not support complex inputs")
    if not input.dtype.is_floating_point:
        return sum(input, dim, keepdim, dtype=dtype)
    return nansum_dim(input, dim=optional_dims(input, dim), keepdim=keepdim, dtype=dtype)


@tensor_call()
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements except nan. Raises RuntimeError: the type is not floating point."""
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


@tensor_call()
def count_nonzero(input: Tensor, dim: Any = None) -> Any:
    """The number of nonzero elements."""
    return count_nonzero_dims(input, dim=optional_dims(input, dim))


@public("Tensor.sum_to_size")
def sum_to_size(self: Tensor, *size: Any) -> Any:
    """Sum over the dimensions that broadcasting from `size` would have expanded. Raises RuntimeError: it does not broadcast."""
    wanted = tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else size
    lead = self.ndim - len(wanted)
    if lead < 0 or {True} != {w in (1, n) for w, n in zip(wanted, self.shape[lead:], strict=True)} | {True}:
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(self.shape)}}}.")
    if not wanted:
        return sum_all(self)
    dims = tuple(i for i, n in enumerate(self.shape) if i < lead or (wanted[i - lead] == 1 and n != 1))
    summed = sum_dim(self, dim=dims, keepdim=True) if dims else self
    return summed.view(wanted) if lead else summed


var_dims = row("var_dims", "VarBackward0",
    "The mean squared distance from the mean. `correction` is subtracted from the number of elements.",
    lambda self, *, dim, correction=1, keepdim=False: _variance(self, dim, correction, keepdim)[0],
    self = lambda grad, self, dim, correction, keepdim: var_backward(grad, self, dim, correction, keepdim))
std_dims = row("std_dims", "StdBackward0", "The square root of the variance.",
    lambda self, *, dim, correction=1, keepdim=False: np.sqrt(_variance(self, dim, correction, keepdim)[0]),
    self = lambda grad, self, result, dim, correction, keepdim:
        var_backward(sqrt_backward(grad, result), self, dim, correction, keepdim))
var_mean_dims = row("var_mean_dims", "VarMeanBackward0", "The variance and the mean.",
    lambda self, *, dim, correction=1, keepdim=False: _variance(self, dim, correction, keepdim), results=("var", "mean"),
    self = lambda grads, self, dim, correction, keepdim:
        var_backward(grads[0], self, dim, correction, keepdim)
        + keep_dims(grads[1], self, dim, keepdim) / degrees_of_freedom(self, dim, 0))
std_mean_dims = row("std_mean_dims", "StdMeanBackward0", "The standard deviation and the mean.",
    lambda self, *, dim, correction=1, keepdim=False: (np.sqrt((v := _variance(self, dim, correction, keepdim))[0]), v[1]),
    results=("std", "mean"),
    self = lambda grads, self, result0, dim, correction, keepdim:
        var_backward(sqrt_backward(grads[0], result0), self, dim, correction, keepdim)
        + keep_dims(grads[1], self, dim, keepdim) / degrees_of_freedom(self, dim, 0))

var_mean_dims.make_results = std_mean_dims.make_results = lambda *results: results  # in PyTorch these are plain tuples


@inlined
def var_backward(grad: Any, self: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """2 * grad * (self - mean) / (n - correction)."""
    distance = self - mean_dim(self, dim=dim, keepdim=True)
    return 2 * keep_dims(grad, self, dim, keepdim) * distance / degrees_of_freedom(self, dim, correction)


@inlined
def sqrt_backward(grad: Any, result: Any) -> Any:
    """grad / (2 * result); 0 where the variance is 0."""
    return where(eq(result, 0), zeros_like(grad), grad / (2 * result))


@composite
def degrees_of_freedom(self: Any, dim: Any, correction: Any) -> Any:
    """The number of elements in each variance, minus the correction."""
    n = mean_divisor(self.shape, dim) - correction
    if n > 0 or (dim is not None and self.ndim):
        return n
    return 0.0 * (self - mean_dim(self, dim=dim, keepdim=True))  # zeros with the distances' signs: all quotients are inf


def _variance(self: Array, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """The variance and the mean."""
    n = mean_divisor(self.shape, dim)
    mean = np.sum(self, axis=dim, keepdims=True) / self.dtype.type(n)
    distance = self - mean
    squares = np.sum((distance * distance.conj()).real, axis=dim, keepdims=keepdim)
    variance = squares / squares.dtype.type(n - correction if n > correction else 0)
    return variance, mean if keepdim else mean.reshape(np.shape(variance))


def _spread(names: str, op: Primitive, does: str) -> Any:
    """The call of one of the four ops, in PyTorch's two forms: std(unbiased=False), std(correction=0)."""
    name = names.rpartition(".")[2]

    def spread(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
        if not (input.dtype.is_floating_point or input.dtype.is_complex):
            which = name if "_" in name else "std and var"
            raise RuntimeError(f"{which} only support floating point and complex dtypes")
        if isinstance(dim, bool):  # std(False)
            dim, unbiased = None, dim
        if unbiased is not None:
            if correction is not None:
                raise TypeError(f"{name}() received an invalid combination of arguments - got both unbiased and correction")
            correction = 1 if unbiased else 0
        return op(input, dim=optional_dims(input, dim), correction=1 if correction is None else correction, keepdim=keepdim)

    return tensor_call(names)(renamed(spread, name, f"{does} over the dimensions `dim`."))


var = _spread("var", var_dims, "The variance")
std = _spread("std", std_dims, "The standard deviation")
var_mean = _spread("torch.var_mean", var_mean_dims, "The variance and the mean")
std_mean = _spread("torch.std_mean", std_mean_dims, "The standard deviation and the mean")
