"""Triangular systems, and the Cholesky factorization."""
# fmt: off

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from ..base.names import mH, tril, triu
from ..op import composite, inlined, primitive, public, row

from ..ops.matrix.matrix_checks import (  # isort: skip
    check_fits, column_major, flat, floating, have_matrices, raise_first, square_matrices, supported,
)
from ..tensor import Tensor

TriangularSolve = namedtuple("triangular_solve", "solution cloned_coefficient")  # type: ignore[name-match]

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order {} is "
    "not positive-definite)."
)


@primitive("LinalgSolveTriangularBackward0")
def linalg_solve_triangular(self, B, *, upper, left=True, unitriangular=False):
    """X with self @ X = B (or X @ self = B) for a triangular matrix, by substitution."""
    if left:
        return column_major(substitution(self, B, upper, unitriangular))
    return np.swapaxes(substitution(np.swapaxes(self, -2, -1), np.swapaxes(B, -2, -1), not upper, unitriangular), -2, -1)
linalg_solve_triangular.defvjp(
    self = lambda grad, self, result, upper, left, unitriangular:
        triangle(-factor_gradient(
            linalg_solve_triangular(mH(self), grad, upper=not upper, left=left, unitriangular=unitriangular), result, left,
        ), upper, unitriangular),
    B    = lambda grad, self, upper, left, unitriangular:
        linalg_solve_triangular(mH(self), grad, upper=not upper, left=left, unitriangular=unitriangular))


@primitive("TriangularSolveBackward0", results=("solution", "cloned_coefficient"))
def triangular_solve_tensors(self, A, *, upper, transpose, unitriangular):
    """X with A @ X = self, and a copy of A."""
    a = np.swapaxes(A, -2, -1) if transpose else A
    return substitution(a, self, upper != transpose, unitriangular), A.copy()
triangular_solve_tensors.defvjp(
    self = lambda grads, A, upper, transpose, unitriangular:
        linalg_solve_triangular(A if transpose else mH(A), grads[0], upper=upper == transpose, unitriangular=unitriangular),
    A    = lambda grads, self, A, solution, upper, transpose, unitriangular:
        triangular_solve_backward(grads, A, solution, upper, transpose, unitriangular))


@primitive("LinalgCholeskyExBackward0", results=("L", "info"))
def linalg_cholesky_ex(A, *, upper=False, check_errors=False):
    """L with L @ L.mH = A, for a positive-definite A. info is the row at which it failed (0: none)."""
    factor, info = cholesky_rows(A, upper)
    if check_errors:
        raise_first(info, "linalg.cholesky_ex", NOT_POSITIVE)
    return factor, info
linalg_cholesky_ex.defvjp(A = lambda grad, upper, L: cholesky_backward(grad, upper, L))


@primitive("CholeskyBackward0")
def cholesky_tensor(self, *, upper=False):
    """L with L @ L.mH = self."""
    factor, info = cholesky_rows(self, upper)
    raise_first(info, "cholesky", NOT_POSITIVE)
    return factor
cholesky_tensor.defvjp(self = lambda grad, upper, result: cholesky_backward(grad, upper, result))


cholesky_solve_tensors = row("cholesky_solve_tensors", "CholeskySolveBackward0",
    "X with (L @ L.mH) @ X = self, for the Cholesky factor L = input2.",
    lambda self, input2, *, upper=False: cholesky_substitution(input2, self, upper),
    self   = lambda grad, input2, upper: cholesky_solve_tensors(grad, input2, upper=upper),
    input2 = lambda grad, self, input2, upper, result:
        cholesky_factor_gradient(-cholesky_solve_tensors(grad, input2, upper=upper) @ mH(result), input2, upper))


cholesky_inverse_tensor = row("cholesky_inverse_tensor", "CholeskyInverseBackward0",
    "The inverse of L @ L.mH, for the Cholesky factor L = self.",
    lambda self, *, upper=False:
        cholesky_substitution(self, np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape), upper),
    self = lambda grad, self, upper, result: cholesky_factor_gradient(-result @ grad @ result, self, upper))


# fmt: on
@inlined
def triangle(matrix: Any, upper: bool, without_diagonal: bool = False) -> Any:
    """The upper or lower triangle, with zeros elsewhere."""
    away = 1 if without_diagonal else 0
    return triu(matrix, diagonal=away) if upper else tril(matrix, diagonal=-away)


@inlined
def factor_gradient(side: Any, solution: Any, left: bool) -> Any:
    """The gradient of A in A @ X = B (or X @ A = B), without the sign. `side` is the gradient of B."""
    return side @ mH(solution) if left else mH(solution) @ side


@composite
def triangular_solve_backward(grads: Any, A: Any, solution: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    """The gradient of A through the solution, plus the gradient of its copy."""
    side = linalg_solve_triangular(A if transpose else mH(A), grads[0], upper=upper == transpose, unitriangular=unitriangular)
    product = -(solution @ mH(side)) if transpose else -(side @ mH(solution))
    return triangle(product, upper, unitriangular) + grads[1]


@composite
def cholesky_backward(grad: Any, upper: bool, L: Any) -> Any:
    """L^-H @ Φ(L.mH @ grad) @ L^-1, where Φ mirrors the lower triangle and halves everything.

    Murray, Differentiation of the Cholesky decomposition (2016), section 3.1.
    """
    if upper:
        grad, L = mH(grad), mH(L)
    phi = mH(L) @ grad
    phi = (tril(phi, diagonal=0) + mH(tril(phi, diagonal=-1))) * 0.5
    half = linalg_solve_triangular(mH(L), phi, upper=True)
    return linalg_solve_triangular(L, half, upper=False, left=False)


@composite
def cholesky_factor_gradient(grad: Any, L: Any, upper: bool) -> Any:
    """The gradient of the factor, from that of L @ L.mH (or of U.mH @ U): (grad + grad.mH) @ L."""
    both = grad + mH(grad)
    return L @ both if upper else both @ L


def substitution(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """X with a @ X = b. For each row, the known rows are subtracted."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])))
    n = a.shape[-1]
    for i in reversed(range(n)) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(0, i)
        x[..., i, :] -= (a[..., i : i + 1, known] @ x[..., known, :])[..., 0, :]
        if not unit:
            x[..., i, :] /= a[..., i, i, None]
    return x


def cholesky_substitution(factor: Any, b: Any, upper: bool) -> Any:
    """X with L @ L.mH @ X = b, by two substitutions. The gradient treats all of the factor as used."""
    lower = np.swapaxes(factor, -2, -1).conj() if upper else factor
    return np.linalg.solve(lower @ np.swapaxes(lower, -2, -1).conj(), np.asarray(b))


def cholesky_rows(a: Any, upper: bool) -> tuple[Any, Any]:
    """The factor, computed by columns, and for each matrix the first column that fails (from 1; 0: none)."""
    matrices = flat(np.swapaxes(a, -2, -1).conj() if upper else a)
    factor, info = np.zeros_like(matrices), np.zeros(len(matrices), np.int32)
    for j in range(a.shape[-1]):
        row = factor[:, j, :j].conj()
        square = (matrices[:, j, j] - (np.abs(row) ** 2).sum(-1)).real
        info[(info == 0) & ~(square > 0)] = j + 1
        factor[:, j, j] = np.sqrt(square)
        rest = matrices[:, j + 1 :, j] - (factor[:, j + 1 :, :j] @ row[:, :, None])[:, :, 0]
        factor[:, j + 1 :, j] = rest / factor[:, j, j, None]
    factor = factor.reshape(a.shape)
    return column_major(np.swapaxes(factor, -2, -1).conj() if upper else factor), info.reshape(a.shape[:-2])


@public("linalg.solve_triangular")
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with A @ X = B (or X @ A = B if not `left`), for a triangular A. Its other triangle is not read."""
    square_matrices(A, "linalg.solve_triangular")
    have_matrices(B, "linalg.solve_triangular", "B")
    check_fits(A, B, left, "linalg.solve_triangular")
    return linalg_solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


@public
def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """X with A @ X = b, and a copy of A. torch.linalg.solve_triangular is the newer function."""
    _check_rows(b, A, "triangular_solve")
    return TriangularSolve(*triangular_solve_tensors(b, A, upper=upper, transpose=transpose, unitriangular=unitriangular))


@public("linalg.cholesky_ex")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor of a positive-definite matrix, and the row at which it failed (0: none)."""
    square_matrices(A, "linalg.cholesky")
    floating(A, "linalg.cholesky", half=True)
    supported(A, "cholesky_cpu")
    return linalg_cholesky_ex(A, upper=upper, check_errors=check_errors)


@public("linalg.cholesky")
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Any:
    """The Cholesky factor of a positive-definite matrix. Raises LinAlgError: it is not positive-definite."""
    factor, info = cholesky_ex(A, upper=upper)
    raise_first(info._data, "linalg.cholesky", NOT_POSITIVE)
    return factor


@public
def cholesky(input: Tensor, upper: bool = False) -> Any:
    """The Cholesky factor of a positive-definite matrix. torch.linalg.cholesky is the newer function."""
    square_matrices(input, "cholesky")
    supported(input, "cholesky_cpu")
    return cholesky_tensor(input, upper=upper)


@public
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Any:
    """X with (L @ L.T) @ X = input, for the Cholesky factor L = input2."""
    _check_rows(input, input2, "cholesky_solve")
    return cholesky_solve_tensors(input, input2, upper=upper)


@public
def cholesky_inverse(input: Tensor, upper: bool = False) -> Any:
    """The inverse of L @ L.T, for the Cholesky factor L = input."""
    square_matrices(input, "cholesky_inverse")
    supported(input, "cholesky_inverse_out_cpu")
    zero = np.diagonal(input._data, axis1=-2, axis2=-1) == 0
    info = np.where(zero.any(-1), (zero.cumsum(-1) == 0).sum(-1) + 1, 0)
    message = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
    raise_first(info, "cholesky_inverse", message)
    return cholesky_inverse_tensor(input, upper=upper)


def _check_rows(b: Tensor, a: Tensor, op: str) -> None:
    """Refuse right sides with another number of rows than A."""
    for x, name in ((b, "b"), (a, "A")):
        if x.ndim < 2:
            raise RuntimeError(
                f"torch.{op}: Expected {name} to have at least 2 dimensions, but it has {x.ndim} dimensions instead"
            )
    if a.shape[-2] != b.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {op}: each A matrix is {a.shape[-1]} by {a.shape[-1]} but each b matrix is "
            f"{b.shape[-2]} by {b.shape[-1]}"
        )
