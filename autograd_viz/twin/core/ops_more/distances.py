"""Differences of neighbours, distances between rows, covariance of variables: diff, cdist, pdist, cov, corrcoef."""
# fmt: off

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.names import cat, copy_into, eq, mT, sign, slice_dim, unsqueeze, where, zeros_like
from ..op import composite, inlined, primitive, public, row
from ..ops.elementwise.arithmetic import mul, mul_scalar, sub
from ..ops.elementwise.complex_numbers import complex_
from ..ops.elementwise.rounding import div
from ..ops.matrix.matmul import contiguous, mm
from ..ops.reduce.dims import tensor_call
from ..ops.reduce.norms import norm_of
from ..ops.reduce.reduction import sum_all, sum_dim
from ..ops.shape.shape import squeeze_all, t
from ..tensor import Tensor, check_dim, check_scalar_type, of_tensors, refuse_if, scalar_type

cdist_forward = row("cdist_forward", "CdistBackward0", "The p-norm of the difference of each row of x1 and each row of x2.",
    lambda x1, x2, *, p: p_norm(x1[..., :, None, :] - x2[..., None, :, :], p),
    x1 = lambda grad, x1, x2, p, result: cdist_backward(grad, x1, x2, p, result),
    x2 = lambda grad, x1, x2, p, result: cdist_backward(mT(grad), x2, x1, p, mT(result)))


@primitive("EuclideanDistBackward0")
def euclidean_dist(x1, x2):
    """All distances between rows from one matrix product: |a - b|² = |a|² + |b|² - 2 a·b."""
    squares = (x1**2).sum(-1)[..., :, None] + (x2**2).sum(-1)[..., None, :]
    return np.sqrt(np.maximum(squares - 2 * (x1 @ np.swapaxes(x2, -2, -1)), 0))
euclidean_dist.defvjp(
    x1 = lambda grad, x1, x2, result: euclidean_dist_backward(grad, x1, x2, result),
    x2 = lambda grad, x1, x2, result: euclidean_dist_backward(mT(grad), x2, x1, mT(result)))


@primitive("PdistBackward0")
def pdist_forward(self, *, p):
    """The p-norm of the difference of each pair of rows: row 0 with 1, 2, ..., then row 1 with 2, 3, ..."""
    first, second = np.triu_indices(len(self), 1)
    return p_norm(self[first] - self[second], p)
pdist_forward.defvjp(self = lambda grad, self, p, result: pdist_backward(grad, self, p, result))


@primitive()
def pair_differences(self):
    """The matrix D for which D @ self holds the differences of all pairs of rows. A row of D has one 1 and one -1."""
    first, second = np.triu_indices(len(self), 1)
    one = np.eye(len(self), dtype=self.dtype)
    return one[first] - one[second]


# fmt: on
def p_norm(difference: Any, p: float) -> Any:
    """(sum of |difference|**p) ** (1/p) over the last dimension. p = 0 counts nonzero differences."""
    return np.abs(difference).max(-1, initial=0) if math.isinf(p) else norm_of(difference, p, -1, False)


@inlined
def p_norm_backward(grad: Any, difference: Any, p: Any, norm: Any) -> Any:
    """grad times the derivative of the norm with respect to `difference`; 0 where the norm is 0."""
    if p == 0:
        return zeros_like(difference) * grad
    if p == 1:
        return grad * sign(difference)
    if p == float("inf"):
        return grad * sign(difference) * eq(abs(difference), norm)
    if p == 2:
        return where(eq(norm, 0), zeros_like(difference), grad * difference / norm)
    slope = sign(difference) * abs(difference) ** (p - 1) / norm ** (p - 1)
    return grad * where(eq(norm, 0) if p >= 1 else eq(difference, 0), zeros_like(difference), slope)


@composite
def cdist_backward(grad: Any, x1: Any, x2: Any, p: Any, result: Any) -> Any:
    """For each row of x1, the sum over the rows of x2."""
    difference = unsqueeze(x1, dim=-2) - unsqueeze(x2, dim=-3)
    each = p_norm_backward(unsqueeze(grad, dim=-1), difference, p, unsqueeze(result, dim=-1))
    return sum_dim(each, dim=(-2,))


@composite
def euclidean_dist_backward(grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    """For each row of x1, the sum of (x1 - x2) * grad / distance; 0 where the distance is 0."""
    ratio = where(eq(result, 0), zeros_like(grad), grad / result)
    return x1 * sum_dim(ratio, dim=(-1,), keepdim=True) - ratio @ x2


@composite
def pdist_backward(grad: Any, self: Any, p: Any, result: Any) -> Any:
    """For each row, the sum over its pairs."""
    pairs = pair_differences(self)
    return mT(pairs) @ p_norm_backward(unsqueeze(grad, dim=-1), pairs @ self, p, unsqueeze(result, dim=-1))


@tensor_call("diff")
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Any:
    """The n-th difference along `dim`. Raises RuntimeError: a 0-d tensor, or a negative order."""
    refuse_if(input.ndim == 0, "diff expects input to be at least one-dimensional")
    refuse_if(n < 0, lambda: f"order must be non-negative but got {n}")
    check_dim(dim, input.ndim)
    if n == 0:
        return copy_into(zeros_like(input.detach()), input)
    parts = [x for x in (prepend, input, append) if x is not None]
    refuse_if(any(x.ndim != input.ndim for x in parts), "diff expects prepend or append to be the same dimension as input")
    x = cat(parts, dim) if len(parts) > 1 else input
    for length in range(x.shape[dim], max(x.shape[dim] - n, 0), -1):
        later, earlier = slice_dim(x, dim=dim, start=1, end=length), slice_dim(x, dim=dim, start=0, end=length - 1)
        x = later != earlier if x.dtype.name == "bool" else later - earlier
    return x


@public("torch.cdist")
@of_tensors
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The distance between each row of `x1` and each row of `x2`, in batches. More than 25 rows use a matrix product.

    Raises RuntimeError: the shapes do not fit, or `p` is negative.
    """
    for i, x in enumerate((x1, x2)):
        if x._data.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{i + 1} got: {scalar_type(x)}")
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{i + 1} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    refuse_if(p < 0, "cdist only supports non-negative p values")
    check_scalar_type(x2, x1)
    rows = max(x1.shape[-2], x2.shape[-2])
    if p != 2 or compute_mode == "donot_use_mm_for_euclid_dist" or (rows <= 25 and compute_mode != "use_mm_for_euclid_dist"):
        return cdist_forward(x1, x2, p=float(p))
    return _by_matrix_product(x1, x2)


def _by_matrix_product(x1: Tensor, x2: Tensor) -> Any:
    """Euclidean distances, with both arguments broadcast to one batch."""
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    shape = (*batch, x1.shape[-2], x2.shape[-2])
    size = math.prod(batch)
    if size != 1:
        x1, x2 = (contiguous(x.expand(*batch, *x.shape[-2:])).view(size, *x.shape[-2:]) for x in (x1, x2))
    return euclidean_dist(x1, x2).view(shape)


@public("torch.pdist", "nn.functional.pdist")
def pdist(input: Tensor, p: float = 2.0) -> Any:
    """The distances of all pairs of rows. Raises RuntimeError: not a matrix, or `p` is negative."""
    refuse_if(input.ndim != 2, lambda: f"pdist only supports 2D tensors, got: {input.ndim}D")
    refuse_if(p < 0, "pdist only supports non-negative p values")
    return pdist_forward(contiguous(input), p=float(p))


def _check_variables(name: str, input: Tensor) -> None:
    dims = f"two or fewer dimensions but got an input with {input.ndim} dimensions"
    refuse_if(input.ndim > 2, lambda: f"{name}(): expected input to have {dims}")


@public
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Any:
    """The covariance of the rows of `input`, one variable each: (x - mean) @ (x - mean).T / (number - correction).

    Raises RuntimeError: more than two dimensions.
    """
    _check_variables("cov", input)
    x = input.view(1, -1) if input.ndim < 2 else input
    weights = fweights if aweights is None else aweights if fweights is None else mul(fweights, aweights)
    total = Tensor(np.array(x.shape[1])) if weights is None else sum_all(weights)
    divisor = _divisor(total, correction, weights, aweights)
    x = sub(x, div(sum_dim(x if weights is None else mul(x, weights), dim=(1,)), total).unsqueeze(1))
    other = t(x if weights is None else mul(x, weights))
    return squeeze_all(div(mm(x, other.conj() if x.dtype.is_complex else other), divisor))


def _divisor(total: Tensor, correction: int, weights: Tensor | None, aweights: Tensor | None) -> Any:
    """The number of observations minus the correction, at least 0."""
    if correction == 0:
        divisor = total
    elif aweights is None or weights is None:
        divisor = sub(total, correction)
    else:
        divisor = sub(total, div(mul_scalar(sum_all(mul(weights, aweights)), other=correction), total))
    return divisor if divisor.item() > 0 else Tensor(np.zeros_like(divisor._data))


@public
def corrcoef(input: Tensor) -> Any:
    """The correlation: `cov`, scaled to ones on the diagonal. Raises RuntimeError: more than two dimensions."""
    _check_variables("corrcoef", input)
    c = cov(input)
    if c.ndim == 0:
        return div(c, c)
    deviation = (c.diagonal().real if c.dtype.is_complex else c.diagonal()).sqrt()
    scaled = div(div(c, deviation.view(-1, 1)), deviation.view(1, -1))
    if c.dtype.is_complex:
        return complex_(scaled.real.clamp(-1, 1), scaled.imag.clamp(-1, 1))
    return scaled.clamp(-1, 1)
