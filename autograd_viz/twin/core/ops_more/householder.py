"""Householder reflections: a product of matrices I - tau v @ v.mH. LAPACK stores the Q of A = Q @ R in this form."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.names import conjugated, identity, mH, resized, squeeze_dim, tril, unsqueeze
from ..base.public import public
from ..base.readings import composite
from ..op.primitive import primitive
from ..ops.matrix.matrix_checks import flat


@public("linalg.householder_product", "orgqr")
@primitive("LinalgHouseholderProductBackward0")
def householder_product(input, tau):
    """The first columns of H1 @ H2 @ ... Column i of `input` has the vector of Hi below its diagonal.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    if input.ndim < 2:
        raise RuntimeError("torch.linalg.householder_product: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    return reflections(input, tau)[..., : input.shape[-1]].copy()
householder_product.defvjp(
    input = lambda grad, input, tau, result: reflections_backward(grad, input, tau)[0],
    tau   = lambda grad, input, tau, result: reflections_backward(grad, input, tau)[1],
)


@primitive("OrmqrBackward0")
def ormqr_tensors(self, input2, input3, *, left=True, transpose=False):
    """Q @ input3 (input3 @ Q if not `left`), for the Q of the reflections. `transpose` uses Q.mH."""
    q = reflections(self, input2)
    q = np.swapaxes(q, -2, -1).conj() if transpose else q
    return q @ input3 if left else input3 @ q
ormqr_tensors.defvjp(
    self   = lambda grad, self, input2, input3, result, left, transpose:
        reflections_backward(ormqr_factor_gradient(grad, input3, left, transpose), self, input2)[0],
    input2 = lambda grad, self, input2, input3, result, left, transpose:
        reflections_backward(ormqr_factor_gradient(grad, input3, left, transpose), self, input2)[1],
    input3 = lambda grad, self, input2, left, transpose: ormqr_tensors(self, input2, grad, left=left, transpose=not transpose),
)


@public("torch.geqrf")
@primitive(results=("a", "tau"))
def geqrf(input):
    """R, and below it the vectors of the reflections whose product is Q."""
    raw, tau = np.linalg.qr(input, "raw")
    return np.swapaxes(raw, -2, -1), tau


# fmt: on
@composite
def ormqr_factor_gradient(grad: Any, other: Any, left: bool, transpose: bool) -> Any:
    """The gradient of Q in Q @ other (or other @ Q, or with Q.mH)."""
    product = grad @ mH(other) if left else mH(other) @ grad
    return mH(product) if transpose else product


@composite
def reflections_backward(gQ: Any, input: Any, tau: Any) -> Any:
    """The gradients of the vectors and of tau, from that of Q = H1 @ H2 @ ...

    Hi has a product on its left and one on its right, so its gradient is gH = left.mH @ gQ @ right.mH.
    In Hi = I - tau v @ v.mH, v gets -(conj(tau) gH + tau gH.mH) @ v, and tau gets -v.mH @ gH @ v.
    """
    rows, columns, k = input.shape[-2], input.shape[-1], tau.shape[-1]
    if 0 in (*input.shape, *tau.shape):
        return None, None  # as in PyTorch, an empty input gets no gradient
    gQ, one = resized(gQ, rows, rows), identity(input, rows=rows, columns=rows)
    vectors = tril(input, diagonal=-1) + identity(input, rows=rows, columns=columns)
    tau = unsqueeze(tau, dim=-2)
    each, scales, right = [], [], [one]
    for i in range(k):
        place = identity(input, rows=columns, columns=1, offset=-i)
        each.append(vectors @ place)
        scales.append(tau @ identity(input, rows=k, columns=1, offset=-i))
    for i in reversed(range(1, k)):
        right.append((one - scales[i] * (each[i] @ mH(each[i]))) @ right[-1])
    left, g_vectors, g_tau = one, input * 0, tau * 0
    for i in range(k):
        gH = mH(left) @ gQ @ mH(right[k - 1 - i])
        place = identity(input, rows=1, columns=columns, offset=i)
        g_vectors = g_vectors - ((conjugated(scales[i]) * gH + scales[i] * mH(gH)) @ each[i]) @ place
        g_tau = g_tau - (mH(each[i]) @ gH @ each[i]) @ identity(input, rows=1, columns=k, offset=i)
        left = left @ (one - scales[i] * (each[i] @ mH(each[i])))
    return tril(g_vectors, diagonal=-1), squeeze_dim(g_tau, dim=-2)


def reflections(vectors: Any, tau: Any) -> Any:
    """The square matrix H1 @ H2 @ ..."""
    rows = vectors.shape[-2]
    v = flat(np.tril(vectors, -1)) + np.eye(rows, vectors.shape[-1], dtype=vectors.dtype)
    scale = tau.reshape(len(v), tau.shape[-1])
    q = np.tile(np.eye(rows, dtype=vectors.dtype), (len(v), 1, 1))
    for i in range(tau.shape[-1]):
        q = q - scale[:, i, None, None] * (q @ v[:, :, i, None]) @ v[:, None, :, i].conj()
    return q.reshape(*vectors.shape[:-2], rows, rows)


@public
def ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Q @ other, for the Q that geqrf stores in `input` and `tau`.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    if input.ndim < 2 or other.ndim < 2:
        name = "input" if input.ndim < 2 else "other"
        raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] < tau.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    return ormqr_tensors(input, tau, other, left=left, transpose=transpose)
