"""The same elements in another order, or repeated: flip, roll, rot90, repeat."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import reshape, sum_dim
from ...op import composite, inlined, public, row
from ...tensor import Tensor, check_dim, distinct_dims, from_front, refuse
from ..index.gather_scatter import index_select
from ..shape import shape
from ..shape.views import expand, flatten, listed, of_dims, view

flip_dims = row("flip_dims", "FlipBackward0", "The elements in reverse order along `dims`.",
    lambda self, *, dims: np.flip(self, tuple(dims)).copy("K") if self.ndim else self.copy(),
    self = lambda grad, dims: flip(grad, dims))
roll_dims = row("roll_dims", "RollBackward0", "Elements moved along `dims`. Those that leave at one end enter at the other.",
    lambda self, *, shifts, dims: np.roll(self, shifts, dims) if dims and self.ndim else np.roll(self, sum(shifts)),
    self = lambda grad, shifts, dims: roll_dims(grad, shifts=rolled_back(shifts), dims=dims[::-1]))
rot90_dims = row("rot90_dims", "Rot90Backward0", "`k` quarter turns in the plane of `dims`, from the first to the second.",
    lambda self, *, k, dims: np.rot90(self, k, dims).copy(),
    self = lambda grad, k, dims: rot90_dims(grad, k=-k, dims=dims))
repeat_dims = row("repeat_dims", "RepeatBackward0", "The whole tensor, repeated so many times along each dimension.",
    lambda self, *, repeats: np.tile(self, repeats),
    self = lambda grad, repeats, self_sym_sizes: repeat_backward(grad, repeats, self_sym_sizes))


# fmt: on
@composite
def flip(input: Any, dims: tuple[int, ...]) -> Any:
    """The elements in reverse order along `dims`."""
    return flip_dims(input, dims=tuple(dims))


@inlined
def rolled_back(shifts: tuple[int, ...]) -> tuple[int, ...]:
    """The shifts that undo these, in reverse order."""
    return tuple(-s for s in shifts[::-1])


@inlined
def repeat_backward(grad: Any, repeats: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """The sum over the repetitions. Each repetition becomes a dimension in front of its length."""
    lengths = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    apart = tuple(n for pair in zip(repeats, lengths, strict=True) for n in pair)
    return reshape(sum_dim(reshape(grad, apart), dim=tuple(range(0, len(apart), 2))), sizes)


def _ints(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


@of_dims
def flip_any(input: Tensor, *dims: Any, **named: Any) -> Any:
    """The elements in reverse order along `dims`, as a copy.

    Raises:
        TypeError: no dims.
    """
    given = listed(dims or tuple(named.values()), "flip", "dims")
    distinct_dims(given, input.ndim)
    return flip_dims(input, dims=given)


@public
def fliplr(input: Tensor) -> Any:
    """Columns in reverse order.

    Raises:
        RuntimeError: there are none.
    """
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_dims(input, dims=(1,))


@public
def flipud(input: Tensor) -> Any:
    """Rows in reverse order.

    Raises:
        RuntimeError: there are none.
    """
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_dims(input, dims=(0,))


@public
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Any:
    """Elements moved along `dims`. Without dims, the flattened tensor is rolled.

    Raises:
        RuntimeError: the number of shifts is not that of the dims.
    """
    shifts, dims = _ints(shifts), _ints(dims if dims is not None else ())
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for d in dims:
        check_dim(d, input.ndim)
    return roll_dims(input, shifts=shifts, dims=dims)


@public
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Any:
    """`k` quarter turns in the plane of two dimensions.

    Raises:
        RuntimeError: not two dimensions.
    """
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    if from_front(dims[0], input.ndim) == from_front(dims[1], input.ndim):
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return rot90_dims(input, k=k, dims=tuple(dims))


@public("Tensor.repeat")
def repeat(input: Tensor, *repeats: Any) -> Any:
    """The whole tensor, repeated so many times along each dimension.

    Raises:
        RuntimeError: a dimension is missing, or a number is negative.
    """
    counts = listed(repeats, "repeat", "repeats")
    if len(counts) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    lengths = [c * n for c, n in zip(counts, (1,) * (len(counts) - input.ndim) + tuple(input.shape), strict=True)]
    if min(lengths, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(lengths)}: {lengths}")
    return repeat_dims(input, repeats=counts)


@of_dims
def tile(input: Tensor, *dims: Any, **named: Any) -> Any:
    """Like repeat, but missing leading dimensions count as 1.

    Raises:
        TypeError: no dims.
    """
    counts = listed(dims or tuple(named.values()), "tile", "dims")
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


@public
def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element (or slice along `dim`) repeated in place. `repeats` is a number, or a tensor with one number for each.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if dim is None:
        input, dim = flatten(input), 0
    dim = from_front(dim, input.ndim)
    if isinstance(repeats, Tensor) and repeats.numel() != 1:
        return index_select(input, dim, _places(repeats, input.shape[dim]))
    count = int(repeats)
    if count < 0:
        raise RuntimeError("Repeats must be non-negative")
    apart = shape.unsqueeze(input, dim=dim + 1)
    wide = expand(apart, (*input.shape[: dim + 1], count, *input.shape[dim + 1 :]))
    sizes = (*input.shape[:dim], input.shape[dim] * count, *input.shape[dim + 1 :])
    return view(shape.clone(wide, memory_format="contiguous"), *sizes)


def _places(repeats: Tensor, length: int) -> Tensor:
    """0 repeated as often as the first number says, then 1, ..."""
    if repeats.numel() != length:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {repeats.numel()} and input.size(0) = {length}"
        )
    refuse(repeats, "f", "repeat_interleave_cpu")
    if repeats.numel() and repeats._data.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return Tensor(np.repeat(np.arange(length), repeats._data))
