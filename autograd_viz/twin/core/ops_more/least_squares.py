"""The pseudo-inverse and least squares; norms, condition and rank of matrices."""
# fmt: off

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from ..base.names import mH, unsqueeze
from ..op import composite, primitive, public
from ..ops.elementwise.arithmetic import mul
from ..ops.elementwise.rounding import div
from ..ops.matrix.matrix_checks import LinAlgError, column_major, floating, have_matrices, square_matrices
from ..ops.reduce.norms import vector_norm
from ..ops.shape.joining import cat
from ..ops.shape.shape import permute_dims
from ..tensor import Tensor, from_front, refuse_if
from .decompositions import eigvalsh, svdvals
from .solving import linalg_inv_ex

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
    b    = lambda grads, self, b, solution: lstsq_backward_b(grads[0], grads[1], self, b, solution))


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
    out = 0 if gX is None else mH(pinv_tensor(A)) @ gX
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
    """The pseudo-inverse. `rcond` is an older name of rtol.

    Singular values up to `atol`, or up to `rtol` times the largest, count as 0. Of a `hermitian` matrix only the lower triangle
    is read. Raises RuntimeError: not a matrix of float32, float64 or complex numbers. LinAlgError: an element is inf or nan.
    """
    refuse_if(A.ndim < 2 or A._data.dtype.kind not in "fc" or A._data.dtype.itemsize == 2, lambda:
        f"linalg.pinv({A.dtype.legacy}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, double, "
        "cfloat or cdouble types")
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
    """The X with the least sum of squares of `input @ X - b`; `b` has a right side per column, or is a vector per matrix.

    Singular values up to `rcond` times the largest count as 0. `driver` is LAPACK's name of the algorithm. It decides which of
    residuals, rank and singular_values are computed. Raises RuntimeError: the shapes do not fit, or an unknown driver.
    """
    refuse_if(input.ndim < 2, "torch.linalg.lstsq: input must have at least 2 dimensions.")
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = input.ndim - 1 == b.ndim and input.shape[:-1] == b.shape
    if not vector and (b.ndim < 2 or input.shape[-2] != b.shape[-2]):
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    found = lstsq_tensors(input, b.unsqueeze(-1) if vector else b, rcond=rcond, driver=driver)
    return Lstsq(found[0].squeeze(-1), *found[1:]) if vector else Lstsq(*found)


@public("linalg.matrix_norm")
def matrix_norm(A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """A norm of each matrix in the two dimensions `dim`, which stay with length 1 if `keepdim`.

    The orders: "fro" (of all elements), "nuc" (sum of singular values), 2 and -2 (largest and smallest of them), 1 and -1
    (largest and smallest column sum), inf and -inf (row sum). With `dtype`, the matrix is converted first.
    Raises RuntimeError: an unknown `ord`, or `dim` is not two different dimensions.
    """
    have_matrices(A, "linalg.matrix_norm")
    floating(A, "linalg.matrix_norm", half=True)
    refuse_if(len(dim) != 2, lambda: f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
    rows, columns = (from_front(d, A.ndim) for d in dim)
    refuse_if(rows == columns, lambda: f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    x = A if dtype is None else A.to(dtype)
    if ord in (1, -1, math.inf, -math.inf):
        return _by_sums(x, ord, rows, columns, keepdim)
    if ord in (2, -2, "nuc"):
        return _by_singular_values(x, ord, (rows, columns), keepdim)
    raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


def _by_sums(x: Tensor, order: float, rows: int, columns: int, keepdim: bool) -> Any:
    """The largest (or smallest) of the sums of absolute values along one dimension."""
    summed, left = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = vector_norm(x, 1.0, (summed,), keepdim)
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
    """The norm (of order `p`, by default 2) of A times that of its inverse. It bounds how errors of A @ x = b grow."""
    refuse_if(A.ndim < 2, "linalg.cond: The input tensor must have at least 2 dimensions.")
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
    """The rank: the number of singular values (eigenvalues, if `hermitian`) that do not count as 0.

    Those up to `atol` (older: `tol`), or up to `rtol` times the largest, count as 0. Raises RuntimeError: the type is not
    float32, float64 or complex.
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
    """The powers 0, 1, ..., N - 1 of each element, along a new last dimension. Raises RuntimeError: `N` is smaller than 2."""
    x = x.unsqueeze(-1) if x.ndim == 0 else x
    n = x.shape[-1] if N is None else N
    refuse_if(n <= 1, "N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    ones = Tensor(np.ones((*x.shape, 1), powers._data.dtype))
    return cat((ones, powers), -1)
