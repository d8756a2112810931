"""One tensor split into several: split, chunk and related ops."""

from __future__ import annotations

from typing import Any

from ...op import public, renamed
from ...tensor import Tensor, check_dim, from_front, refuse_if
from . import slicing


@public
def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Pieces of one length, or of the given lengths, as views."""
    if isinstance(split_size_or_sections, list | tuple):
        return split_with_sizes(input, split_size_or_sections, dim)
    return slicing.split_equally(input, split_size=split_size_or_sections, dim=dim)


@public
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Pieces of the given lengths, as views."""
    return slicing.split_with_lengths(input, split_sizes=tuple(split_sizes), dim=dim)


@public
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` pieces of one length, as views. The last one may be shorter."""
    refuse_if(input.ndim == 0, "chunk expects at least a 1-dimensional tensor")
    refuse_if(chunks <= 0, lambda: f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = -(-input.shape[check_dim(dim, input.ndim)] // chunks)
    return split(input, length, dim) if length else split_with_sizes(input, (0,) * chunks, dim)


@public
def tensor_split(input: Tensor, indices_or_sections: Any = None, dim: int = 0, **named: Any) -> Any:
    """Pieces of nearly equal length, or pieces that end at the given indices, as views.

    Raises RuntimeError: in PyTorch's words.
    """
    where = indices_or_sections if indices_or_sections is not None else next(iter(named.values()))
    where = where.tolist() if isinstance(where, Tensor) else where
    refuse_if(input.ndim == 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = from_front(dim, input.ndim)
    length = input.shape[dim]
    if isinstance(where, int):
        refuse_if(where <= 0, lambda: f"number of sections must be larger than 0, got {where}")
        small, larger = divmod(length, where)
        ends = [(i + 1) * small + min(i + 1, larger) for i in range(where)]
        starts = [0, *ends[:-1]]
    else:
        starts, ends = [0, *where], [*where, length]
    return tuple(slicing.slice_dim(input, dim=dim, start=a, end=b, step=1) for a, b in zip(starts, ends, strict=True))


def _split_along(name: str, least: int, dim: int, does: str) -> None:
    """Publish hsplit, vsplit or dsplit, for tensors with at least `least` dimensions."""

    def split_along(input: Tensor, indices_or_sections: Any) -> Any:
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
                "dimensions!"
            )
        at = 0 if input.ndim == 1 else dim
        if isinstance(where := indices_or_sections, int) and (where <= 0 or input.shape[at] % where):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {at}, but the size of the dimension {input.shape[at]} is not "
                f"divisible by the split_size {where}!"
            )
        return tensor_split(input, where, at)

    public(name)(renamed(split_along, name, does))


_split_along("hsplit", 1, 1, "Split into columns: along dimension 1, a vector along dimension 0.")
_split_along("vsplit", 2, 0, "Split into rows: along dimension 0.")
_split_along("dsplit", 3, 2, "Split in depth: along dimension 2.")


@public
def unbind(input: Tensor, dim: int = 0) -> Any:
    """All slices along `dim`, as views. Raises IndexError: a 0-d tensor."""
    return slicing.unbind_dim(input, dim=dim)


@public
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Any:
    """`length` slices along `dim` from `start`, as a view."""
    refuse_if(input.ndim == 0, "narrow() cannot be applied to a 0-dim tensor.")
    refuse_if(length < 0, "narrow(): length must be non-negative.")
    total, first = input.shape[check_dim(dim, input.ndim)], int(start)
    if not -total <= first <= total:
        raise IndexError(f"start out of range (expected to be in range of [-{total}, {total}], but got {first})")
    first = first + total if first < 0 else first
    refuse_if(first + length > total, lambda: f"start ({first}) + length ({length}) exceeds dimension size ({total}).")
    return slicing.slice_dim(input, dim=dim, start=first, end=first + length, step=1)


@public("linalg.diagonal")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of the matrices in `A`."""
    return slicing.diagonal(A, offset=offset, dim1=dim1, dim2=dim2)
