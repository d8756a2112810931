"""Transposes, diagonals and triangles of matrices; additional dimensions: x.T, diag, tril, atleast_2d."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import diagonal, expand
from ...op import public, public_primitive, public_row, row
from ...tensor import Tensor, refuse_if
from . import shape
from .shape import as_strided
from .slicing import diagonal_backward, diagonal_dims, diagonal_view
from .views import permute, reshape_any


@public_primitive("diag_embed", "DiagEmbedBackward0")
def diag_embed(self, *, offset=0, dim1=-2, dim2=-1):
    """The last dimension as the diagonal of two new dimensions, zeros elsewhere."""
    ndim = self.ndim + 1
    first, second = diagonal_dims(ndim, dim1, dim2)
    lengths = list(self.shape[:-1])
    for d in sorted((first, second)):
        lengths.insert(d, self.shape[-1] + abs(offset))
    return diagonal_backward.forward(self, size=lengths, offset=offset, dim1=dim1, dim2=dim2)
diag_embed.defvjp(self = lambda grad, offset, dim1, dim2: diagonal(grad, offset=offset, dim1=dim1, dim2=dim2))


diagonal_copy = row("diagonal_copy", "DiagonalBackward0_copy", "A copy of a diagonal, as the last dimension.",
    lambda self, *, offset=0, dim1=0, dim2=1: diagonal_view(self, offset, dim1, dim2).copy(),
    self = lambda grad, self_sym_sizes, offset, dim1, dim2:
        diagonal_backward(grad, size=self_sym_sizes, offset=offset, dim1=dim1, dim2=dim2))


@public_primitive("trace", "TraceBackward0")
def trace(self):
    """The sum of the diagonal. Raises RuntimeError: not a matrix."""
    refuse_if(self.ndim != 2, lambda: f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return np.trace(self, dtype=np.int64 if self.dtype.kind in "iub" else self.dtype)
trace.defvjp(self = lambda grad, self_sym_sizes:
    diagonal_backward(expand(grad, (min(self_sym_sizes),)), size=self_sym_sizes, offset=0, dim1=0, dim2=1))


def matrices(name, array) -> Any:
    """The array, if it has matrices."""
    refuse_if(array.ndim < 2, lambda: f"{name}: input tensor must have at least 2 dimensions")
    return array


tril = public_row("tril", "TrilBackward0", "The lower triangle: zeros above `diagonal`.",
    lambda self, *, diagonal=0: np.tril(matrices("tril", self), diagonal), inplace=True,
    self = lambda grad, diagonal: tril(grad, diagonal=diagonal))
triu = public_row("triu", "TriuBackward0", "The upper triangle: zeros below `diagonal`.",
    lambda self, *, diagonal=0: np.triu(matrices("triu", self), diagonal), inplace=True,
    self = lambda grad, diagonal: triu(grad, diagonal=diagonal))


# fmt: on
@public
def diag(input: Tensor, diagonal: int = 0) -> Any:
    """The matrix with this vector on its diagonal, or the diagonal of a matrix. Raises RuntimeError: neither of the two."""
    refuse_if(input.ndim not in (1, 2), lambda: f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, offset=diagonal) if input.ndim == 1 else diagonal_copy(input, offset=diagonal)


@public
def diagflat(input: Tensor, offset: int = 0) -> Any:
    """A matrix with all elements on its diagonal."""
    return diag_embed(reshape_any(input, (input.numel(),)), offset=offset)


@public("Tensor.fill_diagonal_")
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Any:
    """In place: one value on the diagonal. Raises RuntimeError: it has no diagonal."""
    refuse_if(input.ndim < 2, "dimensions must larger than 1")
    refuse_if(input.ndim > 2 and len(set(input.shape)) > 1, "all dimensions of input must be of equal length")
    step = sum(input._data.strides) // input._data.itemsize
    as_strided(input, (min(input.shape),), (step,)).fill_(fill_value)
    return input


def matrix_transpose(input: Tensor, name: str = "mT") -> Any:
    """The last two dimensions, swapped. Raises RuntimeError: a vector."""
    if input.ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor.")
    return shape.transpose_dims(input, dim0=-2, dim1=-1) if input.ndim else input


def reversed_dims(input: Tensor) -> Any:
    """All dimensions in reverse order: the transpose of a matrix."""
    return permute(input, tuple(range(input.ndim))[::-1])


def conjugate_transpose(input: Tensor) -> Any:
    """The conjugate transpose of a matrix. For real numbers it is the transpose. Raises RuntimeError: it is not a matrix."""
    if input.ndim not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH" if input.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor." + batches)
    return adjoint(input) if input.ndim else input


@public
def adjoint(input: Tensor) -> Any:
    """The last two dimensions swapped, and the elements conjugated."""
    transposed = matrix_transpose(input, "mH")
    return transposed.conj() if input.dtype.is_complex else transposed


public("Tensor.T")(property(reversed_dims))
public("Tensor.mT")(property(matrix_transpose))
public("Tensor.H")(property(conjugate_transpose))
public("Tensor.mH")(property(adjoint))


def _each(one: Any, tensors: tuple[Any, ...]) -> Any:
    """`one` applied to a tensor, or to each of several."""
    given = tensors[0] if len(tensors) == 1 else tensors
    return one(given) if isinstance(given, Tensor) else tuple(one(x) for x in given)


@public("torch.atleast_1d")
def atleast_1d(*tensors: Any) -> Any:
    """The tensors with at least one dimension."""
    return _each(lambda x: reshape_any(x, (1,)) if x.ndim == 0 else x, tensors)


@public("torch.atleast_2d")
def atleast_2d(*tensors: Any) -> Any:
    """The tensors with at least two dimensions. A vector becomes a row."""
    return _each(lambda x: reshape_any(x, (1, 1)) if x.ndim == 0 else shape.unsqueeze(x, dim=0) if x.ndim == 1 else x, tensors)


@public("torch.atleast_3d")
def atleast_3d(*tensors: Any) -> Any:
    """The tensors with at least three dimensions. A matrix gets a last dimension of length 1."""

    def one(x: Tensor) -> Any:
        if x.ndim == 0:
            return reshape_any(x, (1, 1, 1))
        x = shape.unsqueeze(x, dim=0) if x.ndim == 1 else x
        return shape.unsqueeze(x, dim=-1) if x.ndim == 2 else x

    return _each(one, tensors)
