"""The pseudo-inverse, and least squares."""
# fmt: off

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from ..base.names import mH, unsqueeze
from ..base.public import public
from ..base.readings import composite
from ..op.primitive import primitive
from ..ops.matrix.matrix_checks import LinAlgError, column_major
from ..tensor.tensor import Tensor

Lstsq = namedtuple("linalg_lstsq", "solution residuals rank singular_values")  # type: ignore[name-match]


@primitive("LinalgPinvBackward0")
def pinv_tensor(self, *, atol=None, rtol=None, hermitian=False):
    """V @ diag(1 / S) @ U.mH, with 0 instead of 1 / S for singular values below the cutoff."""
    if hermitian:
        s, u = np.linalg.eigh(self)  # with signs: A = U @ diag(s) @ U.mH
        v = u
    else:
        u, s, vh = np.linalg.svd(self, False)
        v = np.swapaxes(vh, -2, -1).conj()
    counts = np.abs(s) > cutoff(np.abs(s), self.shape, atol, rtol)[..., None]
    scaled = v * np.where(counts, 1 / np.where(counts, s, 1), 0)[..., None, :]
    return (scaled @ np.swapaxes(u, -2, -1).conj()).astype(self.dtype)
pinv_tensor.defvjp(self = lambda grad, self, result: pinv_backward(grad, result, self))


@primitive(
    "LinalgLstsqBackward0",
    results=("solution", "residuals", "rank", "singular_values"), nondifferentiable=("singular_values",), materialize=False,
)
def lstsq_tensors(self, b, *, rcond=None, driver="gelsy"):
    """The X with the least sum of squares of self @ X - b. If there are several, the one with the smallest norm."""
    rows, columns = self.shape[-2:]
    s = np.linalg.svd(self, compute_uv=False)
    rank = (s > cutoff(s, self.shape, None, rcond)[..., None]).sum(-1)
    x = column_major(pinv_tensor.forward(self, rtol=rcond) @ b)
    empty = np.empty(0, s.dtype)
    known = driver != "gelsy" and rows > columns and (driver == "gels" or (rank == columns).all())
    residuals = (np.abs(self @ x - b) ** 2).sum(-2) if known else empty
    return x, residuals, np.empty(0, np.int64) if driver == "gels" else rank, s if driver in ("gelsd", "gelss") else empty
lstsq_tensors.defvjp(
    self = lambda grads, self, b, solution: lstsq_backward(grads[0], grads[1], self, b, solution),
    b    = lambda grads, self, b, solution: lstsq_backward_b(grads[0], grads[1], self, b, solution),
)


# fmt: on
@composite
def pinv_backward(grad: Any, P: Any, A: Any) -> Any:
    """-P.mH @ grad @ P.mH, plus two terms that are 0 for an invertible A.

    Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems (1973).
    """
    g = mH(grad)
    side = P @ mH(P) if A.shape[-2] <= A.shape[-1] else mH(P) @ P
    if A.shape[-2] <= A.shape[-1]:
        return (g - A @ (P @ g)) @ side + mH(P) @ (P @ (g - (g @ P) @ A)) - mH(P @ g @ P)
    return ((g - A @ (P @ g)) @ P) @ mH(P) + side @ (g - (g @ P) @ A) - mH(P @ g @ P)


@composite
def lstsq_backward(gX: Any, gR: Any, A: Any, b: Any, X: Any) -> Any:
    """The gradient of A. The solution is pinv(A) @ b; for the residuals, X counts as constant."""
    out = 0
    if gX is not None:
        P = pinv_tensor(A)
        out = pinv_backward(gX @ mH(b), P, A)
    if gR is not None and gR.shape[-1]:
        out = out + (A @ X - b) * unsqueeze(gR, dim=-2) * 2 @ mH(X)
    return out


@composite
def lstsq_backward_b(gX: Any, gR: Any, A: Any, b: Any, X: Any) -> Any:
    """The gradient of b: pinv(A).mH @ grad, plus twice the residual times its gradient."""
    out = 0
    if gX is not None:
        out = mH(pinv_tensor(A)) @ gX
    if gR is not None and gR.shape[-1]:
        out = out + (b - A @ X) * unsqueeze(gR, dim=-2) * 2
    return out


@np.errstate(all="ignore")
def cutoff(s: Any, shape: tuple[int, ...], atol: Any, rtol: Any) -> Any:
    """The largest singular value that counts as 0: `atol`, or `rtol` times the largest of all."""
    largest = s.max(-1, initial=0)
    if rtol is None:
        rtol = max(shape[-2:]) * np.finfo(s.dtype).eps if atol is None or not np.any(np.asarray(atol) > 0) else 0.0
    return np.maximum(0.0 if atol is None else atol, rtol * largest)


@public("linalg.pinv")
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The pseudo-inverse.

    Args:
        A: one matrix or a batch of them.
        rcond: an older name of rtol.
        hermitian: A is symmetric; only its lower triangle is read.
        atol: singular values up to this count as 0.
        rtol: singular values up to this times the largest count as 0.

    Raises:
        RuntimeError: not a matrix of float32, float64 or complex numbers.
        LinAlgError: an element is inf or nan.
    """
    if A.ndim < 2 or A._data.dtype.kind not in "fc" or A._data.dtype.itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({A.dtype.legacy}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, double, "
            "cfloat or cdouble types"
        )
    if not np.isfinite(A._data).all():
        raise LinAlgError("linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.")
    tolerances = {"atol": atol, "rtol": rcond if rtol is None else rtol}
    return pinv_tensor(A, **{k: v._data if isinstance(v, Tensor) else v for k, v in tolerances.items()}, hermitian=hermitian)


@public
def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse. torch.linalg.pinv is the newer function."""
    return pinv(input, rcond)


@public("linalg.lstsq")
def lstsq(input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X with the least sum of squares of `input @ X - b`.

    Args:
        input: one matrix or a batch of them.
        b: one right side per column, or one vector per matrix.
        rcond: singular values up to this times the largest count as 0.
        driver: LAPACK's name of the algorithm. It decides which of residuals, rank and singular_values are computed.

    Raises:
        RuntimeError: the shapes do not fit, or an unknown driver.
    """
    if input.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = input.ndim - 1 == b.ndim and input.shape[:-1] == b.shape
    if not vector and (b.ndim < 2 or input.shape[-2] != b.shape[-2]):
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    found = lstsq_tensors(input, b.unsqueeze(-1) if vector else b, rcond=rcond, driver=driver)
    return Lstsq(found[0].squeeze(-1), *found[1:]) if vector else Lstsq(*found)
