"""The largest singular values of a large matrix, from a small random sample of its range.

Halko, Martinsson, Tropp, Finding structure with randomness (2009).
"""

from __future__ import annotations

from typing import Any

from ..base.public import public
from ..ops.elementwise.arithmetic import sub
from ..ops.matrix.matmul import matmul
from ..ops.matrix.matrix_checks import mH
from ..tensor.creation import randn
from ..tensor.tensor import Tensor
from .decompositions import Svd, linalg_qr, linalg_svd


def _minus(product: Any, mean: Any) -> Any:
    return product if mean is None else sub(product, mean)


def _basis(A: Tensor, q: int, niter: int, M: Tensor | None) -> Any:
    """Orthonormal columns that approximate the range of A - M: of a random product, refined `niter` times."""
    random = randn(A.shape[-1], q, dtype=A.dtype)
    Q = linalg_qr(_minus(matmul(A, random), None if M is None else matmul(M, random))).Q
    for _ in range(niter):
        Q = linalg_qr(_minus(matmul(mH(A), Q), None if M is None else matmul(mH(M), Q))).Q
        Q = linalg_qr(_minus(matmul(A, Q), None if M is None else matmul(M, Q))).Q
    return Q


@public("torch.svd_lowrank")
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> Any:
    """Approximately the `q` largest singular values of A - M, and their vectors. It uses random numbers.

    Args:
        A: one matrix or a batch of them.
        q: a little more than the expected rank.
        niter: the number of refinements.
        M: subtracted from A, for example its mean.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    M = None if M is None else M.expand(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A, M = mH(A), None if M is None else mH(M)
    Q = _basis(A, q, niter, M)
    U, S, Vh = linalg_svd(_minus(matmul(mH(Q), A), None if M is None else matmul(mH(Q), M)), full_matrices=False)
    U, V = matmul(Q, U), mH(Vh)
    return Svd(V, S, U) if wide else Svd(U, S, V)


@public("torch.pca_lowrank")
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """The principal components of the rows of A: svd_lowrank of A minus its mean.

    Raises:
        ValueError: `q` or `niter` is out of range.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(sub(A, A.mean((-2,), True)) if center else A, q, niter)
