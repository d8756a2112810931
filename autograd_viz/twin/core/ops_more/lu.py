"""LU factorization: A = P @ L @ U with row swaps P, a lower L with ones on the diagonal, and an upper U."""
# fmt: off

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.names import identity, linalg_solve_triangular, mH, resized, tril, triu
from ..op import composite, public_primitive
from ..ops.matrix.matrix_checks import flat, supported
from ..tensor import Tensor, refuse_if
from .triangular import substitution


@public_primitive("linalg.lu", "LinalgLuBackward0", results=("P", "L", "U"), nondifferentiable=("P",))
def linalg_lu(A, *, pivot=True):
    """P, L and U with A = P @ L @ U.

    Raises RuntimeError: a vector, another type, or no pivots, which PyTorch's CPU lacks too.
    """
    refuse_if(A.ndim < 2, lambda: f"linalg.lu: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    if A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        supported(Tensor(A), "lu_cpu")
    refuse_if(not pivot, "linalg.lu: LU without pivoting is not implemented on the CPU")
    packed, pivots, _ = eliminate(A)
    return swaps_array(packed, pivots), lower_array(packed), upper_array(packed)
linalg_lu.defvjp(A = lambda grads, P, L, U, pivot: lu_backward(grads[0], grads[1], P, L, U))


# fmt: on
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


def lu_substitution(lu: Any, pivots: Any, b: Any) -> Any:
    """X with P @ L @ U @ X = b."""
    permuted = np.swapaxes(swaps_array(lu, pivots), -2, -1) @ b
    return substitution(upper_array(lu), substitution(lower_array(lu), permuted, False, True), True, False)
