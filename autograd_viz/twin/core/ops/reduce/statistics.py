"""Variance and standard deviation."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import eq, keep_dims, mean_dim, where, zeros_like
from ...op import Primitive, composite, inlined, primitive, row
from ...tensor import Array, Tensor
from .dims import optional_dims, tensor_call
from .reduction import mean_divisor

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


@primitive("StdMeanBackward0", results=("std", "mean"))
def std_mean_dims(self, *, dim, correction=1, keepdim=False):
    """The standard deviation and the mean."""
    variance, mean = _variance(self, dim, correction, keepdim)
    return np.sqrt(variance), mean
std_mean_dims.defvjp(self = lambda grads, self, result0, dim, correction, keepdim:
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


def _arguments(name: str, input: Tensor, dim: Any, unbiased: Any, correction: Any, keepdim: bool) -> dict[str, Any]:
    """The options of the primitives, from PyTorch's two forms: std(unbiased=False), std(correction=0)."""
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        which = name if "_" in name else "std and var"
        raise RuntimeError(f"{which} only support floating point and complex dtypes")
    if isinstance(dim, bool):  # std(False)
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(f"{name}() received an invalid combination of arguments - got both unbiased and correction")
        correction = 1 if unbiased else 0
    correction = 1 if correction is None else correction
    return {"dim": optional_dims(input, dim), "correction": correction, "keepdim": keepdim}


def _spread(names: str, op: Primitive, does: str) -> Any:
    """The call of one of the four ops. They have one signature."""
    name = names.rpartition(".")[2]

    def spread(input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
        return op(input, **_arguments(name, input, dim, unbiased, correction, keepdim))

    spread.__name__ = spread.__qualname__ = name
    spread.__doc__ = f"{does} over the dimensions `dim`."
    return tensor_call(names)(spread)


var = _spread("var", var_dims, "The variance")
std = _spread("std", std_dims, "The standard deviation")
var_mean = _spread("torch.var_mean", var_mean_dims, "The variance and the mean")
std_mean = _spread("torch.std_mean", std_mean_dims, "The standard deviation and the mean")
