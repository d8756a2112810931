"""Diagonals and triangles of matrices: diag, diag_embed, trace, tril, triu."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import diagonal, diagonal_backward, expand
from ...base.public import public
from ...base.readings import inlined
from ...op.primitive import primitive
from ...op.row import row
from ...tensor.tensor import Tensor
from .slicing import diagonal_dims, diagonal_view
from .strided import as_strided
from .views import reshape_any


@public
@primitive("DiagEmbedBackward0")
def diag_embed(self, *, offset=0, dim1=-2, dim2=-1):
    """The last dimension as the diagonal of two new dimensions, zeros elsewhere."""
    ndim = self.ndim + 1
    first, second = diagonal_dims(ndim, dim1, dim2)
    lengths = list(self.shape[:-1])
    for d in sorted((first, second)):
        lengths.insert(d, self.shape[-1] + abs(offset))
    out = np.zeros(lengths, self.dtype)
    diagonal_view(out, offset, dim1, dim2)[...] = self
    return out
diag_embed.defvjp(self = lambda grad, offset, dim1, dim2: diagonal(grad, offset=offset, dim1=dim1, dim2=dim2))


diagonal_copy = row("diagonal_copy", "DiagonalBackward0_copy", "A copy of a diagonal, as the last dimension.",
    lambda self, *, offset=0, dim1=0, dim2=1: diagonal_view(self, offset, dim1, dim2).copy(),
    self = lambda grad, self_sym_sizes, offset, dim1, dim2:
        diagonal_backward(grad, size=self_sym_sizes, offset=offset, dim1=dim1, dim2=dim2))


@public
@primitive("TraceBackward0")
def trace(self):
    """The sum of the diagonal.

    Raises:
        RuntimeError: not a matrix.
    """
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return np.trace(self, dtype=np.int64 if self.dtype.kind in "iub" else self.dtype)
trace.defvjp(self = lambda grad, self_sym_sizes: trace_backward(grad, self_sym_sizes))


def check_matrix(name, array) -> None:
    """Refuse an array that is not a matrix."""
    if array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@public(inplace=True)
@primitive("TrilBackward0")
def tril(self, *, diagonal=0):
    """The lower triangle: zeros above `diagonal`."""
    check_matrix("tril", self)
    return np.tril(self, diagonal)
tril.defvjp(self = lambda grad, diagonal: tril(grad, diagonal=diagonal))


@public(inplace=True)
@primitive("TriuBackward0")
def triu(self, *, diagonal=0):
    """The upper triangle: zeros below `diagonal`."""
    check_matrix("triu", self)
    return np.triu(self, diagonal)
triu.defvjp(self = lambda grad, diagonal: triu(grad, diagonal=diagonal))


# fmt: on
@inlined
def trace_backward(grad: Any, sizes: tuple[int, ...]) -> Any:
    """grad on the diagonal, zeros elsewhere."""
    return diagonal_backward(expand(grad, (min(sizes),)), size=sizes, offset=0, dim1=0, dim2=1)


@public
def diag(input: Tensor, diagonal: int = 0) -> Any:
    """The matrix with this vector on its diagonal; or the diagonal of a matrix.

    Raises:
        RuntimeError: neither a vector nor a matrix.
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, offset=diagonal) if input.ndim == 1 else diagonal_copy(input, offset=diagonal)


@public
def diagflat(input: Tensor, offset: int = 0) -> Any:
    """A matrix with all elements on its diagonal."""
    return diag_embed(reshape_any(input, (input.numel(),)), offset=offset)


@public("Tensor.fill_diagonal_")
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Any:
    """In place: one value on the diagonal.

    Raises:
        RuntimeError: it has no diagonal.
    """
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.ndim > 2 and len(set(input.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step = sum(input._data.strides) // input._data.itemsize
    as_strided(input, (min(input.shape),), (step,)).fill_(fill_value)
    return input
