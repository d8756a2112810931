"""The checks of matrix ops, in PyTorch's words, and small helpers that their gradients share."""
# fmt: off

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.names import conj, mT, unsqueeze
from ...op import composite, public, row
from ...tensor import Tensor, refuse, refuse_if


@public("linalg.LinAlgError")
class LinAlgError(RuntimeError):
    """A matrix that cannot be inverted or factorized."""


identity = row("identity", "", "Ones on one diagonal, in the type of `like`.",
    lambda like, *, rows, columns, offset=0: np.eye(rows, columns, offset, dtype=like.dtype))


# fmt: on
@composite
def mH(matrix: Any) -> Any:  # noqa: N802 -- as in Tensor.mH
    """The conjugate transpose of each matrix in a batch. For real numbers it is the transpose."""
    kind = matrix.dtype
    return conj(mT(matrix)) if getattr(kind, "is_complex", getattr(kind, "kind", "") == "c") else mT(matrix)


@composite
def resized(matrix: Any, rows: Any, columns: Any) -> Any:
    """The upper left `rows` x `columns` of the matrix, filled up with zeros."""
    if matrix.shape[-2] != rows:
        matrix = identity(matrix, rows=rows, columns=matrix.shape[-2]) @ matrix
    if matrix.shape[-1] != columns:
        matrix = matrix @ identity(matrix, rows=matrix.shape[-1], columns=columns)
    return matrix


@composite
def of_matrix(numbers: Any) -> Any:
    """One number per matrix, in a shape that broadcasts with it."""
    return unsqueeze(unsqueeze(numbers, dim=-1), dim=-1)


def flat(array: Any) -> Any:
    """A fresh copy with one batch dimension."""
    return np.array(array).reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def column_major(array: Any) -> Any:
    """The same matrices in column-major order, as LAPACK returns them."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(array, -2, -1)), -2, -1)


def have_matrices(x: Tensor, op: str, what: str = "A") -> None:
    """Refuse fewer than two dimensions."""
    refuse_if(x.ndim < 2, lambda: f"{op}: The input tensor {what} must have at least 2 dimensions.")


def square_matrices(x: Tensor, op: str, what: str = "A") -> None:
    """Refuse matrices that are not square."""
    have_matrices(x, op, what)
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{op}: {what} must be batches of square matrices, but they are {rows} by {columns} matrices")


def floating(x: Tensor, op: str, half: bool = False) -> None:
    """Refuse whole numbers, and float16 unless `half`."""
    if x._data.dtype.kind not in "fc":
        raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input. Got {x.dtype.legacy}")
    if x._data.dtype.itemsize == 2 and not half:
        raise RuntimeError(f"{op}: Low precision dtypes not supported. Got {x.dtype.legacy}")


def supported(x: Tensor, kernel: str) -> None:
    """Refuse whole numbers and float16, with PyTorch's message about a missing kernel."""
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
    """Raise if a matrix failed. `info` has its row, or 0, for each matrix; `message` has a placeholder for the row."""
    if not np.any(info):
        return
    batch = int(np.flatnonzero(info)[0])
    which = f"(Batch element {batch}): " if np.ndim(info) else ""
    raise LinAlgError(f"{op}: {which}{message.format(np.ravel(info)[batch])}")
