"""LU factorization (A = P @ L @ U); inverses, determinants, and solutions of A @ X = B, which use it."""
# fmt: off

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from ..base import names as op

from ..base.names import (  # isort: skip
    conj, conjugated, identity, is_complex, linalg_solve_triangular, mH, mT, of_matrix, resized, sum_dim, tril, triu, unsqueeze,
)
from ..op import composite, primitive, public, public_primitive
from ..ops.elementwise.choosing import eq
from ..ops.matrix.matmul import matmul
from ..ops.matrix.matrix_checks import check_fits, column_major, flat, floating, raise_first, square_matrices, supported
from ..ops.shape.shape import clone
from ..tensor import Tensor, refuse_if
from .triangular import substitution

Slogdet = namedtuple("linalg_slogdet", "sign logabsdet")  # type: ignore[name-match]

SINGULAR = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."


@primitive("LinalgInvExBackward0", results=("inverse", "info"))
def linalg_inv_ex(A):
    """The inverse: the X of A @ X = identity."""
    packed, pivots, info = eliminate(A)
    one = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
    return column_major(lu_substitution(packed, pivots, one)), info
linalg_inv_ex.defvjp(A = lambda grad, inverse: -mH(inverse) @ grad @ mH(inverse))


@primitive("LinalgSolveExBackward0", results=("result", "LU", "pivots", "info"), nondifferentiable=("LU",))
def linalg_solve_ex(A, B, *, left=True):
    """X with A @ X = B (X @ A = B if not `left`), by elimination. B may be a vector."""
    lu, pivots, info = eliminate(A if left else np.swapaxes(A, -2, -1))
    vector = is_vector(A, B)
    right = B[..., None] if vector else B if left else np.swapaxes(B, -2, -1)
    x = lu_substitution(lu, pivots, right)
    return x[..., 0] if vector else column_major(x) if left else np.swapaxes(x, -2, -1), lu, pivots, info
linalg_solve_ex.defvjp(
    A = lambda grad, A, LU, pivots, left, result: solve_backward(grad, A, left, result),
    B = lambda grad, A, LU, pivots, left: linalg_solve_ex(mH(A), grad, left=left)[0])


@primitive("LinalgDetBackward0", results=("result", "LU", "pivots"), nondifferentiable=("LU",))
def det_tensor(A):
    """The determinant: the product of U's diagonal in A = P @ L @ U, with a sign change for each row swap."""
    lu, pivots, _ = eliminate(A)
    return swap_sign(pivots, A.dtype) * np.diagonal(lu, axis1=-2, axis2=-1).prod(-1), lu, pivots
det_tensor.defvjp(A = lambda grad, A, LU, pivots, result: of_matrix(grad) * cofactors(A))


@primitive("LinalgSlogdetBackward0", results=("sign", "logabsdet", "LU", "pivots"), nondifferentiable=("LU",))
def slogdet_tensor(A):
    """The sign of the determinant, and the logarithm of its absolute value."""
    lu, pivots, _ = eliminate(A)
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    return swap_sign(pivots, A.dtype) * np.sign(diagonal).prod(-1), np.log(np.abs(diagonal)).sum(-1), lu, pivots
slogdet_tensor.defvjp(A = lambda grads, A, LU, pivots, sign: of_matrix(log_det_gradient(grads, sign)) * mH(linalg_inv_ex(A)[0]))


@primitive("CofactorsBackward0")
def cofactors(A):
    """conj(det(A)) * A^-H, which exists for a singular A too. Each singular value is replaced by the product of the others."""
    u, s, vh = np.linalg.svd(A)
    n = s.shape[-1]
    others = np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(-1)
    sign = (np.linalg.det(u) * np.linalg.det(vh)).conj()
    return ((u * (others * sign[..., None])[..., None, :]) @ vh).astype(A.dtype)
cofactors.defvjp(A = lambda grad, A, result: cofactors_backward(grad, A, result))


@public_primitive("matrix_exp linalg.matrix_exp", "LinalgMatrixExpBackward0")
def matrix_exp(self):
    """1 + A + A² / 2! + ... It is computed for A / 2**n, then squared n times."""
    square_matrices(Tensor(self), "linalg.matrix_exp")
    floating(Tensor(self), "linalg.matrix_exp", half=True)
    a = flat(self)
    size = np.abs(a).sum(-2).max(-1, initial=0)
    halvings = np.ceil(np.log2(np.maximum(np.where(np.isfinite(size), size, 1), 0.25))).astype(int) + 2
    a = a / np.exp2(halvings)[:, None, None].astype(a.dtype)
    term = result = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for k in range(1, 15):
        term = term @ a / a.dtype.type(k)
        result = result + term
    for k in range(halvings.max(initial=0)):
        result = np.where((k < halvings)[:, None, None], result @ result, result)
    return result.reshape(self.shape)
matrix_exp.defvjp(self = lambda grad, self: matrix_exp_backward(grad, self))


@public_primitive("linalg.lu", "LinalgLuBackward0", results=("P", "L", "U"), nondifferentiable=("P",))
def linalg_lu(A, *, pivot=True):
    """P, L and U with A = P @ L @ U. Raises RuntimeError: a vector, another type, or no pivots (as PyTorch on the CPU)."""
    refuse_if(A.ndim < 2, lambda: f"linalg.lu: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    if A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        supported(Tensor(A), "lu_cpu")
    refuse_if(not pivot, "linalg.lu: LU without pivoting is not implemented on the CPU")
    packed, pivots, _ = eliminate(A)
    return swaps_array(packed, pivots), lower_array(packed), upper_array(packed)
linalg_lu.defvjp(A = lambda grads, P, L, U, pivot: lu_backward(grads[0], grads[1], P, L, U))


@composite
def solve_backward(grad: Any, A: Any, left: bool, result: Any) -> Any:
    """-(A^-H @ grad) @ X.mH (Giles 2008, section 2.3.1)."""
    side = linalg_solve_ex(mH(A), grad, left=left)[0]
    if result.ndim == A.ndim - 1 or result.ndim == 1:
        return -unsqueeze(side, dim=-1) @ mH(unsqueeze(result, dim=-1))
    return -side @ mH(result) if left else -mH(result) @ side


@composite
def log_det_gradient(grads: Any, sign: Any) -> Any:
    """The gradient of log(det). The real part is the log size; the sign is exp(i * imaginary part). A real sign is constant."""
    if not is_complex(sign):
        return grads[1]
    turned = conj(grads[0]) * sign
    return grads[1] - (turned - conj(turned)) * 0.5


@composite
def cofactors_backward(grad: Any, A: Any, result: Any) -> Any:
    """With B = A^-H and C = conj(det(A)) B: sum(conj(grad) * C) * B - B @ grad.mH @ C."""
    B = mH(linalg_inv_ex(A)[0])
    return of_matrix(sum_dim(conjugated(grad) * result, dim=(-2, -1))) * B - B @ mH(grad) @ result


@composite
def matrix_exp_backward(grad: Any, A: Any) -> Any:
    """The upper right corner of exp([[A.mH, grad], [0, A.mH]]) (Mathias, A chain rule for matrix functions, 1996)."""
    n = A.shape[-1]
    first, second = identity(A, rows=n, columns=2 * n), identity(A, rows=n, columns=2 * n, offset=n)
    blocks = mT(first) @ mH(A) @ first + mT(second) @ mH(A) @ second + mT(first) @ grad @ second
    return first @ matrix_exp(blocks) @ mT(second)


def is_vector(a: Any, b: Any) -> bool:
    """Is B in A @ X = B one vector per matrix?"""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])


def swap_sign(pivots: Any, dtype: Any) -> Any:
    """-1 for an odd number of row swaps, else 1."""
    swaps = (pivots != np.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return np.where(swaps % 2, -1, 1).astype(dtype)


@public("linalg.inv", "inverse")
def inv(A: Tensor) -> Any:
    """The inverse of a square matrix. Raises LinAlgError: it is singular."""
    square_matrices(A, "linalg.inv")
    floating(A, "linalg.inv")
    inverse, info = linalg_inv_ex(A)
    raise_first(info._data, "linalg.inv", SINGULAR)
    return inverse


@public("linalg.solve")
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Any:
    """X with A @ X = B (X @ A = B if not `left`).

    Raises RuntimeError: the types differ, or B is a vector and `left` is False. LinAlgError: A is singular.
    """
    square_matrices(A, "linalg.solve")
    floating(A, "linalg.solve")
    refuse_if(A.dtype is not B.dtype, lambda:
        f"linalg.solve: Expected A and B to have the same dtype, but found A of type {A.dtype.legacy} and B of type "
        f"{B.dtype.legacy} instead")
    if is_vector(A, B):
        refuse_if(not left,
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)")
        check_fits(A, Tensor(B._data[..., None]), left, "linalg.solve")
    else:
        check_fits(A, B, left, "linalg.solve")
    result, _, _, info = linalg_solve_ex(A, B, left=left)
    raise_first(info._data, "torch.linalg.solve", "The solver failed because the input matrix is singular.")
    return result


@public("linalg.det", "det")
def det(A: Tensor) -> Any:
    """The determinant."""
    square_matrices(A, "linalg.det")
    floating(A, "linalg.det", half=True)
    supported(A, "lu_cpu")
    return det_tensor(A).result


@public("linalg.slogdet", "slogdet")
def slogdet(A: Tensor) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    square_matrices(A, "linalg.slogdet")
    floating(A, "linalg.slogdet")
    return Slogdet(*slogdet_tensor(A)[:2])


@public
def logdet(input: Tensor) -> Any:
    """The logarithm of the determinant; nan if the determinant is negative."""
    square_matrices(input, "logdet")
    floating(input, "logdet")
    sign, size, *_ = slogdet_tensor(input)
    if input.dtype.is_complex:
        return op.log(sign) + size
    return op.where(eq(sign, -1), Tensor(np.array(np.nan, input._data.dtype)), size)


@public("matrix_power", "linalg.matrix_power")
def matrix_power(input: Tensor, n: int) -> Any:
    """The n-th power of a matrix, by repeated squaring. A negative `n` uses the inverse."""
    square_matrices(input, "linalg.matrix_power")
    if n == 0:
        one = np.eye(input.shape[-1], dtype=input._data.dtype)
        return clone(input).copy_(Tensor(np.broadcast_to(one, input.shape)))
    if n == 1:
        return clone(input)
    if n < 0:
        input, n = inv(input), -n
    if n == 3:
        return matmul(matmul(input, input), input)
    power, result = input, None
    while True:
        if n % 2:
            result = power if result is None else matmul(result, power)
        n //= 2
        if not n:
            return result
        power = matmul(power, power)


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
