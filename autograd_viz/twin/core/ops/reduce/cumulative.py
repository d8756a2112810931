"""Running sums and extrema: each element of the result depends on all earlier elements."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import exp, log, put_at, where
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


@tensor_call(inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """Running sum along `dim`."""
    return cumsum_dim(input, dim=check_dim(dim, input.ndim), dtype=dtype)


@tensor_call
def logcumsumexp(input: Tensor, dim: int) -> Any:
    """log of the running sum of exp(input) along `dim`.

    Raises:
        NotImplementedError: integers.
    """
    refuse(input, "iubc", "logcumsumexp_out_cpu")
    return logcumsumexp_dim(input, dim=check_dim(dim, input.ndim))


def _extreme(name: str, along: Primitive, which: str) -> Any:
    """The call of cummax or cummin."""
    def extreme(input: Tensor, dim: int) -> Any:
        return along(input, dim=check_dim(dim, input.ndim))

    return tensor_call(name)(renamed(extreme, name, f"The {which} element so far along `dim`, and its index."))


cummax, cummin = _extreme("cummax", cummax_dim, "largest"), _extreme("cummin", cummin_dim, "smallest")
