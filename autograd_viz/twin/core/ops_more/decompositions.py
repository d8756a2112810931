"""Matrix decompositions: QR, singular values, eigenvalues.

Their gradients: Giles, Collected matrix derivative results (2008); Walter and Lehmann, Algorithmic differentiation of
linear algebra functions with application in optimum experimental design (2010).
"""
# fmt: off

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from ..base.names import conj, identity, is_complex, linalg_solve_ex, linalg_solve_triangular, mT, resized, tril, unsqueeze
from ..op import composite, primitive, public
from ..ops.matrix.matrix_checks import LinAlgError, column_major, floating, have_matrices, mH, square_matrices, supported
from ..tensor import Tensor, refuse_if

Svd = namedtuple("svd", "U S V")  # type: ignore[name-match]
Qr = namedtuple("qr", "Q R")  # type: ignore[name-match]
LinalgSvd = namedtuple("linalg_svd", "U S Vh")  # type: ignore[name-match]
LinalgQr = namedtuple("linalg_qr", "Q R")  # type: ignore[name-match]
LinalgEigh = namedtuple("linalg_eigh", "eigenvalues eigenvectors")  # type: ignore[name-match]
LinalgEig = namedtuple("linalg_eig", "eigenvalues eigenvectors")  # type: ignore[name-match]


@primitive("LinalgQrBackward0", results=("Q", "R"))
def qr_tensor(A, *, mode="reduced"):
    """A = Q @ R, Q with orthonormal columns, R upper triangular."""
    if mode == "r":
        return np.empty(0, A.dtype), column_major(np.linalg.qr(A, "r"))
    return tuple(column_major(factor) for factor in np.linalg.qr(A, mode))
qr_tensor.defvjp(A = lambda grads, Q, R, mode: qr_backward(grads[0], grads[1], Q, R, mode))


@primitive("LinalgSvdBackward0", results=("U", "S", "Vh"), materialize=False)
def svd_tensor(A, *, full_matrices=False):
    """A = U @ diag(S) @ Vh, U and V with orthonormal columns, S >= 0 in falling order."""
    refuse_if(not np.isfinite(A).all(),
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.", LinAlgError)
    u, s, vh = np.linalg.svd(A, full_matrices)
    return column_major(u), s, column_major(vh)
svd_tensor.defvjp(
    A = lambda grads, U, S, Vh, S_sym_argsize_minus_1, full_matrices:
        svd_backward(grads[0], grads[1], grads[2], U, S, Vh, S_sym_argsize_minus_1))


@primitive("LinalgEighBackward0", results=("eigenvalues", "eigenvectors"), materialize=False)
def eigh_tensor(A, *, UPLO="L"):
    """A = V @ diag(L) @ V.mH for a symmetric A, with L in rising order. Only one triangle is read."""
    values, vectors = np.linalg.eigh(A, UPLO)
    return values, column_major(vectors)
eigh_tensor.defvjp(A = lambda grads, eigenvalues, eigenvectors: eigh_backward(grads[0], grads[1], eigenvalues, eigenvectors))


@primitive("LinalgEigBackward0", results=("eigenvalues", "eigenvectors"), materialize=False)
def eig_tensor(self):
    """self @ V = V @ diag(L). The results are complex."""
    values, vectors = np.linalg.eig(self)
    complex_type = np.result_type(self.dtype, np.complex64)
    return values.astype(complex_type), column_major(vectors.astype(complex_type))
eig_tensor.defvjp(self = lambda grads, eigenvalues, eigenvectors: eig_backward(grads[0], grads[1], eigenvalues, eigenvectors))


@composite
def qr_backward(gQ: Any, gR: Any, Q: Any, R: Any, mode: str) -> Any:
    """The gradient of A from those of Q and R.

    It is Q @ gR plus two terms of gQ: the part outside Q's columns, and inside them the lower triangle of N - N.mH.
    N = Q.mH @ gQ - gR @ R.mH. Both terms are multiplied by R^-H of R's leading square.
    """
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    rows, k, columns = Q.shape[-2], Q.shape[-1], R.shape[-1]
    if mode == "complete" and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    inside = mH(Q) @ gQ
    n = inside - gR @ mH(R)
    skew = n - mH(n)
    turned = tril(skew, diagonal=-1)
    if is_complex(skew):  # on its diagonal: i times twice the rotation of Q's columns in the complex plane
        turned = turned + skew * identity(skew, rows=k, columns=k) * 0.5
    turn = gQ - Q @ inside + Q @ turned
    turn = linalg_solve_triangular(mH(resized(R, k, k)), turn, upper=False, left=False)
    return Q @ gR + resized(turn, rows, columns)


@composite
def svd_backward(gU: Any, gS: Any, gVh: Any, U: Any, S: Any, Vh: Any, k: int) -> Any:
    """U @ (diag(gS) + (skew(U.mH gU) / E) S + S (skew(V.mH gV) / E)) @ Vh, plus the parts of gU and gV outside the columns.

    E[i, j] = S[j]² - S[i]², skew(X) = X - X.mH. The columns that full_matrices adds are not unique, and get no gradient.
    Complex columns of U and V may rotate together, so the diagonal of skew(U.mH gU) is divided by 2 S.
    """
    rows, columns = U.shape[-2], Vh.shape[-1]
    U, Vh, S = resized(U, rows, k), resized(Vh, k, columns), unsqueeze(S, dim=-2)
    S_column, one = mT(S), identity(U, rows=k, columns=k)
    E = (S - S_column) * (S + S_column) + one
    inner = one * 0 if gS is None else one * unsqueeze(gS, dim=-2)
    outer_part = 0
    if gU is not None:
        gU = resized(gU, rows, k)
        inside = mH(U) @ gU
        skew = inside - mH(inside)
        if is_complex(skew):
            inner, skew = inner + one * skew / (S * 2), skew * (1 - one)
        inner = inner + skew / E * S
        if rows > k:
            outer_part = ((gU - U @ inside) / S) @ Vh
    if gVh is not None:
        gVh = resized(gVh, k, columns)
        inside = gVh @ mH(Vh)
        skew = mH(inside) - inside
        if is_complex(skew):
            skew = skew * (1 - one)
        inner = inner + S_column * (skew / E)
        if columns > k:
            outer_part = outer_part + U @ ((gVh - inside @ Vh) / S_column)
    return U @ inner @ Vh + outer_part


@composite
def eigh_backward(gL: Any, gV: Any, L: Any, V: Any) -> Any:
    """V @ (diag(gL) + skew(V.mH @ gV) / 2E) @ V.mH, with E[i, j] = L[j] - L[i] and skew(X) = X - X.mH."""
    one = identity(V, rows=V.shape[-1], columns=V.shape[-1])
    inner = 0 if gL is None else one * unsqueeze(gL, dim=-2)
    if gV is not None:
        E = unsqueeze(L, dim=-2) - unsqueeze(L, dim=-1) + one
        inside = mH(V) @ gV
        inner = inner + (inside - mH(inside)) / (E * 2)
    return V @ inner @ mH(V)


@composite
def eig_backward(gL: Any, gV: Any, L: Any, V: Any) -> Any:
    """V^-H @ (diag(gL) + (V.mH @ gV - V.mH @ V @ diag(real(V.mH @ gV))) / conj(E)) @ V.mH.

    E[i, j] = L[j] - L[i]. The last term keeps each eigenvector at length 1.
    """
    one = identity(V, rows=V.shape[-1], columns=V.shape[-1])
    inner = 0 if gL is None else one * unsqueeze(gL, dim=-2)
    if gV is not None:
        E = unsqueeze(L, dim=-2) - unsqueeze(L, dim=-1) + one
        along = mH(V) @ gV
        along = along - mH(V) @ V @ (one * (along + conj(along)) * 0.5)
        inner = inner + along * (1 - one) / conj(E)
    return linalg_solve_ex(mH(V), inner @ mH(V))[0]


@public("linalg.qr")
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """A = Q @ R with orthonormal columns in Q and an upper triangular R. Raises RuntimeError: an unknown mode.

    The mode "reduced" gives Q the shape of A, if A is tall; "complete" makes Q square; "r" computes only R.
    """
    have_matrices(A, "linalg.qr")
    floating(A, "linalg.qr", half=True)
    supported(A, "geqrf_cpu")
    refuse_if(mode not in ("reduced", "complete", "r"), lambda:
        f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    return LinalgQr(*qr_tensor(A, mode=mode))


@public
def qr(input: Tensor, some: bool = True) -> Any:
    """A = Q @ R. torch.linalg.qr is the newer function."""
    return Qr(*linalg_qr(input, "reduced" if some else "complete"))


@public("linalg.svd")
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """A = U @ diag(S) @ Vh. Raises RuntimeError: a driver is given, which is only for a GPU.

    With `full_matrices`, U and Vh are square. Their additional columns and rows have no gradient.
    """
    have_matrices(A, "linalg.svd")
    floating(A, "linalg.svd", half=True)
    supported(A, "linalg_svd_cpu")
    if driver is not None:
        raise RuntimeError("linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
    return LinalgSvd(*svd_tensor(A, full_matrices=full_matrices))


@public("linalg.svdvals")
def svdvals(A: Tensor, *, driver: str | None = None) -> Any:
    """The singular values."""
    return linalg_svd(A, full_matrices=False, driver=driver).S


@public
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S, V (not Vh) with A = U @ diag(S) @ V.mH. torch.linalg.svd is newer. Raises RuntimeError: fewer than 2 dimensions."""
    if input.ndim < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {input.ndim} dimensions instead")
    U, S, Vh = linalg_svd(input, full_matrices=compute_uv and not some)
    if compute_uv:
        return Svd(U, S, mH(Vh))
    rows, columns, dtype = *input.shape[-2:], input._data.dtype
    return Svd(*(
        S if n is None else Tensor(np.zeros((*input.shape[:-2], n, n), dtype)) for n in (rows, None, columns)
    ))  # fmt: skip


def _check_symmetric(A: Tensor, op: str, UPLO: str) -> None:
    square_matrices(A, op)
    supported(A, "linalg_eigh_cpu")
    refuse_if(UPLO.upper() not in ("L", "U"), lambda: f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")


@public("linalg.eigh")
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues (rising) and eigenvectors (columns) of a symmetric matrix. One triangle is read."""
    _check_symmetric(A, "linalg.eigh", UPLO)
    return LinalgEigh(*eigh_tensor(A, UPLO=UPLO.upper()))


@public("linalg.eigvalsh")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of a symmetric matrix."""
    _check_symmetric(A, "linalg.eigvalsh", UPLO)
    return eigh_tensor(A, UPLO=UPLO.upper()).eigenvalues


@public("linalg.eig")
def eig(A: Tensor) -> Any:
    """Eigenvalues and eigenvectors (columns of length 1) of any square matrix, as complex numbers.

    Raises RuntimeError: the type is not floating point or complex, or an element is inf or nan.
    """
    square_matrices(A, "linalg.eig")
    refuse_if(A._data.dtype.kind not in "fc", lambda: f"Unknown Complex ScalarType for {A.dtype.legacy}")
    supported(A, "linalg_eig_out_cpu")
    refuse_if(not np.isfinite(A._data).all(), "torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return LinalgEig(*eig_tensor(A))


@public("linalg.eigvals")
def eigvals(A: Tensor) -> Any:
    """The eigenvalues of any square matrix."""
    return eig(A).eigenvalues
