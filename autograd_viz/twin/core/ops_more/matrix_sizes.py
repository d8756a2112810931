"""Norms, condition and rank of matrices; Vandermonde's matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.public import public
from ..ops.elementwise.arithmetic import mul
from ..ops.elementwise.rounding import div
from ..ops.matrix.matrix_checks import floating, have_matrices, square_matrices
from ..ops.reduce.norms import vector_norm
from ..ops.shape.joining import cat
from ..ops.shape.shape import permute_dims
from ..tensor.arguments import from_front
from ..tensor.tensor import Tensor
from .decompositions import eigvalsh, svdvals
from .least_squares import cutoff
from .solving import linalg_inv_ex


def _vector_norm(x: Tensor, order: float, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
    return vector_norm(x, order, dim, keepdim, dtype=dtype)


@public("linalg.matrix_norm")
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """A norm of each matrix.

    Args:
        A: one matrix or a batch of them.
        ord: "fro" (of all elements), "nuc" (sum of singular values), 2 and -2 (largest and smallest of them), 1 and -1
            (largest and smallest column sum), inf and -inf (row sum).
        dim: the dimensions of the matrix.
        keepdim: these stay, with length 1.
        dtype: convert to this first.

    Raises:
        RuntimeError: an unknown `ord`, or `dim` is not two different dimensions.
    """
    have_matrices(A, "linalg.matrix_norm")
    floating(A, "linalg.matrix_norm", half=True)
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
    rows, columns = (from_front(d, A.ndim) for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return _vector_norm(A, 2, (rows, columns), keepdim, dtype)
    x = A if dtype is None else A.to(dtype)
    if ord in (1, -1, math.inf, -math.inf):
        return _by_sums(x, ord, rows, columns, keepdim)
    if ord in (2, -2, "nuc"):
        return _by_singular_values(x, ord, (rows, columns), keepdim)
    raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


def _by_sums(x: Tensor, order: float, rows: int, columns: int, keepdim: bool) -> Any:
    """The largest (or smallest) of the sums of absolute values along one dimension."""
    summed, left = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = _vector_norm(x, 1.0, (summed,), keepdim)
    left -= summed < left and not keepdim
    return (sums.amax if order > 0 else sums.amin)(left, keepdim)


def _by_singular_values(x: Tensor, order: Any, dims: tuple[int, int], keepdim: bool) -> Any:
    """The sum, the largest or the smallest of the singular values."""
    front = (*(d for d in range(x.ndim) if d not in dims), *dims)
    s = svdvals(permute_dims(x, dims=front))
    out = (s.sum if order == "nuc" else s.amax if order > 0 else s.amin)(-1, keepdim)
    return permute_dims(out.unsqueeze(-1), dims=tuple(front.index(d) for d in range(x.ndim))) if keepdim else out


@public("linalg.cond")
def cond(A: Tensor, p: Any = None) -> Any:
    """The condition number for A @ x = b: the norm of A times the norm of its inverse. It bounds how errors grow.

    Args:
        A: one matrix or a batch of them.
        p: the norm; None means 2.
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p in (None, 2, -2):
        s = svdvals(A)
        largest, smallest = s.narrow(-1, 0, 1), s.narrow(-1, s.shape[-1] - 1, 1)
        return (div(smallest, largest) if p == -2 else div(largest, smallest)).squeeze(-1)
    square_matrices(A, f"linalg.cond({p})")
    if p == "nuc":
        s = svdvals(A)
        return mul(s.sum(-1), s.reciprocal().sum(-1))
    floating(A, "linalg.inv")
    inverse, info = linalg_inv_ex(A)
    inverse = inverse.masked_fill(Tensor((info._data != 0)[..., None, None]), math.inf)
    return mul(matrix_norm(A, p), matrix_norm(inverse, p)).nan_to_num(math.inf, math.inf, -math.inf)


@public("linalg.matrix_rank")
def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The rank: the number of singular values that do not count as 0.

    Args:
        A: one matrix or a batch of them.
        tol: an older name of atol.
        hermitian: A is symmetric; its eigenvalues are used.
        atol: singular values up to this count as 0.
        rtol: singular values up to this times the largest count as 0.

    Raises:
        RuntimeError: the type is not float32, float64 or complex.
    """
    have_matrices(A, "torch.linalg.matrix_rank", "input")
    if A._data.dtype.kind not in "fc" or A._data.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    plain = Tensor(A._data)
    s = np.abs(eigvalsh(plain)._data) if hermitian else svdvals(plain)._data
    atol, rtol = (x._data if isinstance(x, Tensor) else x for x in (tol if atol is None else atol, rtol))
    return Tensor(np.asarray((s > cutoff(s, A.shape, atol, rtol)[..., None]).sum(-1)))


@public("linalg.vander")
def vander(x: Tensor, N: int | None = None) -> Any:
    """The powers 0, 1, ..., N - 1 of each element, along a new last dimension.

    Raises:
        RuntimeError: `N` is smaller than 2.
    """
    x = x.unsqueeze(-1) if x.ndim == 0 else x
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    ones = Tensor(np.ones((*x.shape, 1), powers._data.dtype))
    return cat((ones, powers), -1)
