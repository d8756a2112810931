"""Running sums and extrema, and products. The gradient of an element of a product is the product of the others."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import all_dims, conjugated, exp, keep_dims, log, put_at, reshape, sum_dim, transpose_dims, unsqueeze, where
from ...op import Primitive, composite, primitive, renamed, row
from ...tensor import Array, Tensor, check_dim, refuse
from .dims import on_vectors, result_type, tensor_call

cumsum_dim = row("cumsum_dim", "CumsumBackward0", "Running sum along `dim`.",
    on_vectors(lambda self, *, dim, dtype=None: np.cumsum(self, axis=dim, dtype=result_type(self, dtype))),
    self = lambda grad, dim: reversed_cumsum(grad, dim=dim))
reversed_cumsum = row("reversed_cumsum", "FlipBackward0", "Running sum along `dim` from its end. It is the gradient of cumsum.",
    on_vectors(lambda self, *, dim: np.flip(np.cumsum(np.flip(self, dim), axis=dim, dtype=self.dtype), dim)),
    self = lambda grad, dim: cumsum_dim(grad, dim=dim))


@primitive("LogcumsumexpBackward0")
@on_vectors
def logcumsumexp_dim(self, *, dim, reverse=False):
    """log of the running sum of exp(self) along `dim`, without overflow."""
    x = np.flip(self, dim) if reverse else self
    out = np.logaddexp.accumulate(x, axis=dim) if x.size else x
    return np.flip(out, dim) if reverse else out
logcumsumexp_dim.defvjp(self = lambda grad, self, result, dim: logcumsumexp_backward(grad, self, result, dim))


reversed_logcumsumexp = row("reversed_logcumsumexp", "FlipBackward0",
    "log of the running sum of exp(self) along `dim` from its end.",
    lambda self, *, dim: logcumsumexp_dim.forward(self, dim=dim, reverse=True),
    self = lambda grad, self, result, dim: logcumsumexp_backward(grad, self, result, dim, True))


@composite
def logcumsumexp_backward(grad: Any, self: Any, result: Any, dim: int, reverse: bool = False) -> Any:
    """exp(self) * reversed_cumsum(grad * exp(-result)). Positive and negative parts of grad are summed as logarithms."""
    total = 0
    for sign_of_grad in (1, -1):
        size = sign_of_grad * grad
        logs = where(size > 0, log(where(size > 0, size, 1.0)) - result, -np.inf)
        sums = logcumsumexp_dim(logs, dim=dim) if reverse else reversed_logcumsumexp(logs, dim=dim)
        total = total + sign_of_grad * exp(sums + self)
    return total


cummax_dim = row("cummax_dim", "CummaxBackward0",
    "The largest element so far along `dim`, and its index (the last of equal ones).",
    on_vectors(lambda self, *, dim: _running_best(self, dim, np.greater_equal)), results=("values", "indices"),
    self = lambda grad, self, indices, dim: cummaxmin_backward(grad, self, indices, dim))
cummin_dim = row("cummin_dim", "CumminBackward0",
    "The smallest element so far along `dim`, and its index (the last of equal ones).",
    on_vectors(lambda self, *, dim: _running_best(self, dim, np.less_equal)), results=("values", "indices"),
    self = lambda grad, self, indices, dim: cummaxmin_backward(grad, self, indices, dim))


@composite
def cummaxmin_backward(grad: Any, self: Any, indices: Any, dim: int) -> Any:
    """Each gradient goes to the element that was the extreme so far."""
    return put_at(grad, indices=indices, sizes=self.shape, dim=dim, keepdim=True)


def _running_best(self: Array, dim: int, beats: Any) -> tuple[Array, Array]:
    """Values and indices of the extreme so far. nan beats all; of equal ones the later wins."""
    x = np.moveaxis(self, dim, 0)
    places = np.zeros(x.shape, np.int64)
    best = x[0] if len(x) else None
    for i in range(1, len(x)):
        wins = beats(x[i], best) | np.not_equal(x[i], x[i])
        places[i] = np.where(wins, i, places[i - 1])
        best = np.where(wins, x[i], best)
    places = np.moveaxis(places, 0, dim)
    return np.take_along_axis(self, places, dim), places


@tensor_call()
def logcumsumexp(input: Tensor, dim: int) -> Any:
    """log of the running sum of exp(input) along `dim`. Raises NotImplementedError: integers."""
    refuse(input, "iubc", "logcumsumexp_out_cpu")
    return logcumsumexp_dim(input, dim=check_dim(dim, input.ndim))


def _extreme(name: str, along: Primitive, which: str) -> Any:
    """The call of cummax or cummin."""
    def extreme(input: Tensor, dim: int) -> Any:
        return along(input, dim=check_dim(dim, input.ndim))

    return tensor_call(name)(renamed(extreme, name, f"The {which} element so far along `dim`, and its index."))


cummax, cummin = _extreme("cummax", cummax_dim, "largest"), _extreme("cummin", cummin_dim, "smallest")


prod_all = row("prod_all", "ProdBackward0", "The product of all elements.",
    lambda self, *, dtype=None: np.prod(self, dtype=result_type(self, dtype)),
    self = lambda grad, self, result: prod_backward(grad, self, result, None))
prod_dim = row("prod_dim", "ProdBackward1", "The product along `dim`.",
    on_vectors(lambda self, *, dim, keepdim=False, dtype=None:
        np.prod(self, axis=dim, keepdims=keepdim, dtype=result_type(self, dtype))),
    self = lambda grad, self, result, dim, keepdim:
        prod_backward(keep_dims(grad, self, dim, keepdim), self, keep_dims(result, self, dim, keepdim), dim))


@composite(written=lambda grad, self, result, dim: grad * conjugated(prod_of_others(self, dim=dim)))
def prod_backward(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    """grad * result / self; if an element is 0, the product of the others instead."""
    if self.ndim and all_dims(self, dim=None):
        return grad * conjugated(result / self)
    return grad * conjugated(prod_of_others(self, dim=dim))


@primitive("MulBackward0")
def prod_of_others(self, *, dim):
    """For each element, the product of all others along `dim` (None: of all elements): those before times those after."""
    x = self.reshape(-1, 1) if dim is None or not self.ndim else np.moveaxis(self, dim, 0)
    one = np.ones_like(x[:1])
    before = np.cumprod(np.concatenate([one, x[:-1]]), axis=0, dtype=x.dtype)[: len(x)]
    after = np.cumprod(np.concatenate([one, x[:0:-1]]), axis=0, dtype=x.dtype)[: len(x)][::-1]
    out = before * after
    return out.reshape(self.shape) if dim is None or not self.ndim else np.moveaxis(out, 0, dim)
prod_of_others.defvjp(self = lambda grad, self, dim: prod_of_others_backward(grad, conjugated(self), dim))


@composite
def prod_of_others_backward(grad: Any, self: Any, dim: Any) -> Any:
    """The product without two elements. Row i of a square matrix holds all but element i; its rows again leave one out."""
    if dim is None or not self.ndim:
        flat = (np.prod(self.shape, dtype=int).item(),)
        return reshape(prod_of_others_backward(reshape(grad, flat), reshape(self, flat), 0), self.shape)
    diagonal = np.eye(self.shape[dim], dtype=bool)
    rows = where(diagonal, 1.0, unsqueeze(transpose_dims(self, dim0=dim, dim1=-1), dim=-2))
    pairs = where(diagonal, 0.0, prod_of_others(rows, dim=-1))
    summed = sum_dim(unsqueeze(transpose_dims(grad, dim0=dim, dim1=-1), dim=-1) * pairs, dim=(-2,))
    return transpose_dims(summed, dim0=dim, dim1=-1)


cumprod_dim = row("cumprod_dim", "CumprodBackward0", "Running product along `dim`.",
    on_vectors(lambda self, *, dim, dtype=None: np.cumprod(self, axis=dim, dtype=result_type(self, dtype))),
    self = lambda grad, self, dim, result: cumprod_backward(grad, conjugated(self), dim, conjugated(result)))


@composite
def cumprod_backward(grad: Any, self: Any, dim: int, result: Any) -> Any:
    """The sum of later grad * result, divided by the element. With zeros, products without the element are used instead."""
    if not self.ndim:
        return grad
    if all_dims(self, dim=None):
        return reversed_cumsum(grad * result, dim=dim) / self
    n = self.shape[dim]
    rows = where(np.eye(n, dtype=bool), 1.0, unsqueeze(transpose_dims(self, dim0=dim, dim1=-1), dim=-2))
    without = where(np.tri(n, dtype=bool).T, cumprod_dim(rows, dim=-1), 0.0)  # row i: the products without element i
    summed = sum_dim(unsqueeze(transpose_dims(grad, dim0=dim, dim1=-1), dim=-2) * without, dim=(-1,))
    return transpose_dims(summed, dim0=dim, dim1=-1)


@tensor_call()
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along `dim`. Raises TypeError: `dim` is not an int."""
    if dim is None:
        return prod_all(input, dtype=dtype)
    if not isinstance(dim, int):
        given = type(dim).__name__
        raise TypeError(f"prod() received an invalid combination of arguments - got ({given}), but expected an int")
    return prod_dim(input, dim=check_dim(dim, input.ndim), keepdim=keepdim, dtype=dtype)


def _running(name: str, along: Primitive, which: str) -> Any:
    """The call of cumsum or cumprod."""
    def running(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
        return along(input, dim=check_dim(dim, input.ndim), dtype=dtype)

    return tensor_call(inplace=True)(renamed(running, name, f"Running {which} along `dim`."))


cumsum, cumprod = _running("cumsum", cumsum_dim, "sum"), _running("cumprod", cumprod_dim, "product")
