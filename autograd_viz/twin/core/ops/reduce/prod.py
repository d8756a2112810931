"""Products of many elements. The gradient of an element is the product of the others, exact also if there are zeros."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import all_dims, conjugated, keep_dims, reshape, reversed_cumsum, sum_dim, transpose_dims, unsqueeze, where
from ...op import composite, primitive, row
from ...tensor import Tensor, check_dim
from .dims import on_vectors, result_type, tensor_call

prod_all = row("prod_all", "ProdBackward0", "The product of all elements.",
    lambda self, *, dtype=None: np.prod(self, dtype=result_type(self, dtype)),
    self = lambda grad, self, result: prod_backward(grad, self, result, None))


@primitive("ProdBackward1")
@on_vectors
def prod_dim(self, *, dim, keepdim=False, dtype=None):
    """The product along `dim`."""
    return np.prod(self, axis=dim, keepdims=keepdim, dtype=result_type(self, dtype))
prod_dim.defvjp(self = lambda grad, self, result, dim, keepdim:
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


@tensor_call
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along `dim`.

    Raises:
        TypeError: `dim` is not an int.
    """
    if dim is None:
        return prod_all(input, dtype=dtype)
    if not isinstance(dim, int):
        given = type(dim).__name__
        raise TypeError(f"prod() received an invalid combination of arguments - got ({given}), but expected an int")
    return prod_dim(input, dim=check_dim(dim, input.ndim), keepdim=keepdim, dtype=dtype)


@tensor_call(inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """Running product along `dim`."""
    return cumprod_dim(input, dim=check_dim(dim, input.ndim), dtype=dtype)
