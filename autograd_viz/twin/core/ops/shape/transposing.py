"""Transposes, and additional dimensions: x.T, x.mT, atleast_2d."""

from __future__ import annotations

from typing import Any

from ...base.public import public
from ...tensor.tensor import Tensor
from . import shape
from .views import permute, reshape_any


def matrix_transpose(input: Tensor, name: str = "mT") -> Any:
    """The last two dimensions, swapped.

    Raises:
        RuntimeError: a vector.
    """
    if input.ndim == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor.")
    return shape.transpose_dims(input, dim0=-2, dim1=-1) if input.ndim else input


def reversed_dims(input: Tensor) -> Any:
    """All dimensions in reverse order: the transpose of a matrix."""
    return permute(input, tuple(range(input.ndim))[::-1])


def conjugate_transpose(input: Tensor) -> Any:
    """The conjugate transpose of a matrix. For real numbers it is the transpose.

    Raises:
        RuntimeError: it is not a matrix.
    """
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
