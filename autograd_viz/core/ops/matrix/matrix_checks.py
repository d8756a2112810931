"""What matrix ops refuse, in PyTorch's words; and small helpers that their gradients share."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.public import public
from ...base.readings import composite
from ...op.primitive import primitive
from ...tensor.refusals import refuse
from ...tensor.tensor import Tensor


@public("linalg.LinAlgError")
class LinAlgError(RuntimeError):
    """A matrix that cannot be inverted or factorized."""


@primitive()
def identity(like, *, rows, columns, offset=0):
    """Ones on one diagonal, in the type of `like`."""
    return np.eye(rows, columns, offset, dtype=like.dtype)


# fmt: on
@composite
def mH(matrix: Any) -> Any:  # noqa: N802 -- as in Tensor.mH
    """The conjugate transpose of each matrix in a batch; for real numbers the transpose."""
    kind = matrix.dtype
    return conj(mT(matrix)) if getattr(kind, "is_complex", getattr(kind, "kind", "") == "c") else mT(matrix)


@composite
def resized(matrix: Any, rows: Any, columns: Any) -> Any:
    """The upper left `rows` x `columns`; what the matrix does not have is 0."""
    if matrix.shape[-2] != rows:
        matrix = identity(matrix, rows=rows, columns=matrix.shape[-2]) @ matrix
    if matrix.shape[-1] != columns:
        matrix = matrix @ identity(matrix, rows=matrix.shape[-1], columns=columns)
    return matrix


@composite
def of_matrix(numbers: Any) -> Any:
    """One number per matrix, in a shape that broadcasts over it."""
    return unsqueeze(unsqueeze(numbers, dim=-1), dim=-1)


def flat(array: Any) -> Any:
    """A fresh copy with one batch dimension."""
    return np.array(array).reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def column_major(array: Any) -> Any:
    """The same matrices, each with its columns in order in memory, as LAPACK leaves them."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(array, -2, -1)), -2, -1)


def have_matrices(x: Tensor, op: str, what: str = "A") -> None:
    """Refuse less than two dimensions."""
    if x.ndim < 2:
        raise RuntimeError(f"{op}: The input tensor {what} must have at least 2 dimensions.")


def square_matrices(x: Tensor, op: str, what: str = "A") -> None:
    """Refuse matrices with more rows than columns, or fewer."""
    have_matrices(x, op, what)
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{op}: {what} must be batches of square matrices, but they are {rows} by {columns} matrices")


def floating(x: Tensor, op: str, half: bool = False) -> None:
    """Refuse whole numbers, and (unless `half`) float16."""
    if x._data.dtype.kind not in "fc":
        raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input. Got {x.dtype.legacy}")
    if x._data.dtype.itemsize == 2 and not half:
        raise RuntimeError(f"{op}: Low precision dtypes not supported. Got {x.dtype.legacy}")


def supported(x: Tensor, kernel: str) -> None:
    """Refuse whole numbers and float16, as a kernel that was not compiled for them."""
    refuse(x, "iubf" if x._data.dtype.itemsize == 2 else "iub", kernel)


def check_fits(a: Tensor, b: Tensor, left: bool, op: str) -> None:
    """Refuse sides of AX = B (or XA = B) that do not fit."""
    if a.shape[-2 if left else -1] != b.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation {equation} ({a.shape[-2]}x{a.shape[-1]} and "
            f"{b.shape[-2]}x{b.shape[-1]})"
        )


def raise_first(info: Any, op: str, message: str) -> None:
    """Raise if one of the matrices failed; `info` says for each at which row, `message` has a place for it.

    Raises:
        LinAlgError: always, if there is such a matrix.
    """
    if not np.any(info):
        return
    batch = int(np.flatnonzero(info)[0])
    which = f"(Batch element {batch}): " if np.ndim(info) else ""
    raise LinAlgError(f"{op}: {which}{message.format(np.ravel(info)[batch])}")
