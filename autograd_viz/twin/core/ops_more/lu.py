"""LU factorization: A = P @ L @ U with row swaps P, a lower L with ones on the diagonal, and an upper U."""
# fmt: off

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from ..base.names import identity, linalg_solve_triangular, mH, mT, resized, tril, triu
from ..base.public import public
from ..base.readings import composite
from ..op.primitive import primitive
from ..op.row import row
from ..ops.matrix.matrix_checks import check_fits, flat, square_matrices, supported
from ..tensor.tensor import Tensor
from .triangular import substitution

LuFactor = namedtuple("linalg_lu_factor", "LU pivots")  # type: ignore[name-match]
LuUnpack = namedtuple("lu_unpack", "P L U")  # type: ignore[name-match]


@primitive("LinalgLuFactorExBackward0", results=("LU", "pivots", "info"))
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False):
    """L and U in one matrix, the row swapped with each row (from 1), and the first zero on U's diagonal."""
    packed, pivots, info = eliminate(A)
    if check_errors:
        raise_singular_factor(info)
    return packed, pivots, info
linalg_lu_factor_ex.defvjp(
    A = lambda grad, LU, pivots, pivot:
        lu_backward(tril(grad, diagonal=-1), triu(grad, diagonal=0),
                    row_swaps(LU, pivots), lower_factor(LU), upper_factor(LU)),
)


@public("linalg.lu")
@primitive("LinalgLuBackward0", results=("P", "L", "U"), nondifferentiable=("P",))
def linalg_lu(A, *, pivot=True):
    """P, L and U with A = P @ L @ U."""
    check_lu(A, pivot, "linalg.lu")
    packed, pivots, _ = eliminate(A)
    return swaps_array(packed, pivots), lower_array(packed), upper_array(packed)
linalg_lu.defvjp(A = lambda grads, P, L, U, pivot: lu_backward(grads[0], grads[1], P, L, U))


@primitive("LuUnpackBackward0", results=("P", "L", "U"), nondifferentiable=("P",))
def lu_unpack_tensor(LU_data, *, LU_pivots, unpack_data=True, unpack_pivots=True):
    """P, L and U, from the packed factors and the pivots of lu_factor."""
    empty = np.empty(0, LU_data.dtype)
    p = swaps_array(LU_data, LU_pivots) if unpack_pivots else empty
    return (p, lower_array(LU_data), upper_array(LU_data)) if unpack_data else (p, empty, empty)
lu_unpack_tensor.defvjp(
    LU_data = lambda grads, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1:
        packed_gradient(grads[0], grads[1], LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1),
)


@primitive("LinalgLuSolveBackward0")
def lu_solve_tensors(LU, B, *, pivots, left=True, adjoint=False):
    """X with A @ X = B (X @ A = B if not `left`), for a factored A. `adjoint` uses A.mH."""
    if not left:  # X @ A = B is A.mH @ X.mH = B.mH
        return np.swapaxes(lu_substitution(LU, pivots, np.swapaxes(B, -2, -1).conj(), not adjoint), -2, -1).conj()
    return lu_substitution(LU, pivots, B, adjoint)
lu_solve_tensors.defvjp(
    LU = lambda grad, LU, result, pivots, left, adjoint: lu_solve_backward(grad, LU, result, pivots, left, adjoint),
    B  = lambda grad, LU, pivots, left, adjoint: lu_solve_tensors(LU, grad, pivots=pivots, left=left, adjoint=not adjoint),
)


row_swaps = row("row_swaps", "", "The permutation matrix P of the pivots.",
    lambda LU, pivots: swaps_array(LU, pivots))


# fmt: on
@composite
def lower_factor(LU: Any) -> Any:
    """L of a packed LU: the part below the diagonal, with ones on it."""
    k = min(LU.shape[-2], LU.shape[-1])
    return tril(resized(LU, LU.shape[-2], k), diagonal=-1) + identity(LU, rows=LU.shape[-2], columns=k)


@composite
def upper_factor(LU: Any) -> Any:
    """U of a packed LU: the diagonal and the part above it."""
    return triu(resized(LU, min(LU.shape[-2], LU.shape[-1]), LU.shape[-1]), diagonal=0)


@composite
def packed_gradient(L: Any, U: Any, rows: int, columns: int) -> Any:
    """The gradients of L and U in one matrix. The ones of L and the zeros of both are constants."""
    return resized(tril(L, diagonal=-1), rows, columns) + resized(triu(U, diagonal=0), rows, columns)


@composite
def lu_backward(gL: Any, gU: Any, P: Any, L: Any, U: Any) -> Any:
    """P @ L^-H @ (tril(L.mH @ gL, -1) + triu(gU @ U.mH)) @ U^-H.

    De Hoog, Anderssen, Lukas, Differentiation of matrix functionals using triangular factorization (2011). A matrix that is not
    square is first extended to a square one with an identity. This leaves the existing parts of both factors unchanged.
    """
    rows, columns = L.shape[-2], U.shape[-1]
    n, k = max(rows, columns), L.shape[-1]
    filling = identity(L, rows=n, columns=n) - resized(identity(L, rows=k, columns=k), n, n)
    L, U, gL, gU = resized(L, n, n) + filling, resized(U, n, n) + filling, resized(gL, n, n), resized(gU, n, n)
    inner = tril(mH(L) @ gL, diagonal=-1) + triu(gU @ mH(U), diagonal=0)
    inner = linalg_solve_triangular(mH(L), inner, upper=True, unitriangular=True)
    return P @ resized(linalg_solve_triangular(mH(U), inner, upper=False, left=False), rows, columns)


@composite
def lu_solve_backward(grad: Any, LU: Any, result: Any, pivots: Any, left: bool, adjoint: bool) -> Any:
    """The gradient of A as in a linear system, then of its factors: L gets P.T @ gA @ U.mH, U gets L.mH @ P.T @ gA."""
    side = lu_solve_tensors(LU, grad, pivots=pivots, left=left, adjoint=not adjoint)
    gA = -(side @ mH(result)) if left else -(mH(result) @ side)
    swapped = mT(row_swaps(LU, pivots)) @ (mH(gA) if adjoint else gA)
    L, U = lower_factor(LU), upper_factor(LU)
    return tril(swapped @ mH(U), diagonal=-1) + triu(mH(L) @ swapped, diagonal=0)


def eliminate(a: Any) -> tuple[Any, Any, Any]:
    """Gaussian elimination. In each column the largest element is the pivot; multiples of its row clear the rows below.

    Returns:
        The multipliers (below the diagonal) and U in one matrix, the swaps, and the index of the first zero on U's diagonal.
    """
    lu = flat(a)
    n = min(a.shape[-2:])
    every = np.arange(len(lu))
    pivots, info = np.zeros((len(lu), n), np.int32), np.zeros(len(lu), np.int32)
    for j in range(n):
        largest = j + (np.abs(lu[:, j:, j].real) + np.abs(lu[:, j:, j].imag)).argmax(1)  # LAPACK's size of a complex number
        pivots[:, j] = largest + 1
        lu[every, j], lu[every, largest] = lu[every, largest], lu[every, j]
        pivot = lu[:, j, j, None]
        info[(info == 0) & (pivot[:, 0] == 0)] = j + 1
        lu[:, j + 1 :, j] /= np.where(pivot == 0, 1, pivot)
        lu[:, j + 1 :, j + 1 :] -= lu[:, j + 1 :, j, None] * lu[:, j, None, j + 1 :]
    batch = a.shape[:-2]
    return lu.reshape(a.shape), pivots.reshape(*batch, n), info.reshape(batch)


def swaps_array(lu: Any, pivots: Any) -> Any:
    """P of A = P @ L @ U: an identity with rows swapped by the pivots, the last one first."""
    n, swaps = lu.shape[-2], pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    p = np.tile(np.eye(n, dtype=lu.dtype), (len(swaps), 1, 1))
    every = np.arange(len(swaps))
    for j in reversed(range(swaps.shape[1])):
        other = swaps[:, j] - 1
        p[every, j], p[every, other] = p[every, other], p[every, j]
    return p.reshape(*pivots.shape[:-1], n, n)


def lower_array(lu: Any) -> Any:
    """L of a packed LU, as an array."""
    k = min(lu.shape[-2:])
    return np.tril(lu[..., :k], -1) + np.eye(lu.shape[-2], k, dtype=lu.dtype)


def upper_array(lu: Any) -> Any:
    """U of a packed LU, as an array."""
    return np.triu(lu[..., : min(lu.shape[-2:]), :])


def lu_substitution(lu: Any, pivots: Any, b: Any, adjoint: bool) -> Any:
    """X with P @ L @ U @ X = b, or with its conjugate transpose."""
    p, lower, upper = swaps_array(lu, pivots), lower_array(lu), upper_array(lu)
    if adjoint:
        y = substitution(np.swapaxes(upper, -2, -1).conj(), b, False, False)
        return p @ substitution(np.swapaxes(lower, -2, -1).conj(), y, True, True)
    return substitution(upper, substitution(lower, np.swapaxes(p, -2, -1) @ b, False, True), True, False)


def check_lu(a: Any, pivot: bool, op: str) -> None:
    """Refuse vectors, and elimination without row swaps, which PyTorch's CPU lacks too."""
    if a.ndim < 2:
        shape = list(a.shape)
        raise RuntimeError(f"{op}: Expected tensor with 2 or more dimensions. Got size: {shape} instead")
    if a.dtype.kind not in "fc" or a.dtype.itemsize == 2:
        supported(Tensor(a), "lu_cpu")
    if not pivot:
        raise RuntimeError(f"{op.removeprefix('torch.')}: LU without pivoting is not implemented on the CPU")


def raise_singular_factor(info: Any) -> None:
    """Refuse a U with a zero on its diagonal."""
    if np.any(info):
        batch = int(np.flatnonzero(info)[0])
        which, i = f"(Batch element {batch}): " if np.ndim(info) else "", np.ravel(info)[batch]
        raise RuntimeError(
            f"torch.linalg.lu_factor: {which}U[{i},{i}] is zero and using it on lu_solve would result in a division by zero. "
            "If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)"
        )


@public("linalg.lu_factor_ex")
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """The packed factors of A, the pivots, and the index of the first zero on U's diagonal."""
    check_lu(A._data, pivot, "torch.lu_factor" if A.ndim < 2 else "linalg.lu_factor")
    return linalg_lu_factor_ex(A, pivot=pivot, check_errors=check_errors)


@public("linalg.lu_factor")
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """The packed factors of A and the pivots.

    Raises:
        RuntimeError: U has a zero on its diagonal.
    """
    factor, pivots, info = lu_factor_ex(A, pivot=pivot)
    raise_singular_factor(info._data)
    return LuFactor(factor, pivots)


@public
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The packed factors of A and the pivots. torch.linalg.lu_factor is the newer function."""
    factor, pivots, info = lu_factor_ex(A, pivot=pivot)
    return (factor, pivots, info) if get_infos else (factor, pivots)


@public("torch.lu_unpack")
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from the packed factors and the pivots.

    Raises:
        RuntimeError: the pivots are not int32.
    """
    if LU_pivots._data.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    return LuUnpack(*lu_unpack_tensor(LU_data, LU_pivots=LU_pivots, unpack_data=unpack_data, unpack_pivots=unpack_pivots))


@public("linalg.lu_solve")
def linalg_lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Any:
    """X with A @ X = B, for an A factored by lu_factor."""
    square_matrices(LU, "torch.linalg.lu_solve", "LU")
    check_fits(LU, B, left, "linalg.lu_solve")
    return lu_solve_tensors(LU, B, pivots=pivots, left=left, adjoint=adjoint)


@public
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """X with A @ X = b. torch.linalg.lu_solve is the newer function."""
    return linalg_lu_solve(LU_data, LU_pivots, b)
