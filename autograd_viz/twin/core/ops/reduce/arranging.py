"""The same elements in another order, or repeated: flip, roll, rot90, repeat, sort, topk."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.memory import laid_out_for
from ...base.names import put_at, reshape, sum_dim
from ...op import composite, inlined, primitive, public, renamed, row
from ...tensor import Array, Tensor, check_dim, distinct_dims, from_front, ints, refuse, refuse_if
from ..index.gather_scatter import index_select
from ..shape import shape
from ..shape.views import expand, flatten, listed, of_dims, view
from .dims import on_vectors, tensor_call

flip_dims = row("flip_dims", "FlipBackward0", "The elements in reverse order along `dims`.",
    lambda self, *, dims: np.flip(self, tuple(dims)).copy("K") if self.ndim else self.copy(),
    self = lambda grad, dims: flip(grad, dims))
roll_dims = row("roll_dims", "RollBackward0", "Elements moved along `dims`. Those that leave at one end enter at the other.",
    lambda self, *, shifts, dims: np.roll(self, shifts, dims) if dims and self.ndim else np.roll(self, sum(shifts)),
    self = lambda grad, shifts, dims: roll_dims(grad, shifts=tuple(-s for s in shifts[::-1]), dims=dims[::-1]))
rot90_dims = row("rot90_dims", "Rot90Backward0", "`k` quarter turns in the plane of `dims`, from the first to the second.",
    lambda self, *, k, dims: np.rot90(self, k, dims).copy(),
    self = lambda grad, k, dims: rot90_dims(grad, k=-k, dims=dims))
repeat_dims = row("repeat_dims", "RepeatBackward0", "The whole tensor, repeated so many times along each dimension.",
    lambda self, *, repeats: np.tile(self, repeats),
    self = lambda grad, repeats, self_sym_sizes: repeat_backward(grad, repeats, self_sym_sizes))


to_index = lambda grad, indices, self_sym_sizes, dim: put_at(
    grad, indices=indices, sizes=self_sym_sizes, dim=dim, keepdim=True)


@primitive("SortBackward0", results=("values", "indices"))
@on_vectors
def sort_dim(self, *, dim=-1, descending=False):
    """The sorted elements along `dim`, and their indices in self."""
    order = in_order(self, dim, descending)
    return tuple(laid_out_for(a, [list(self.strides)]) for a in (np.take_along_axis(self, order, dim), order))
sort_dim.defvjp(self = to_index)


sort_stable = row("sort_stable", "SortBackward1", "Like sort, as PyTorch's overload with `stable`. Ours is always stable.",
    on_vectors(lambda self, *, dim=-1, descending=False, stable=None: sort_dim.forward(self, dim=dim, descending=descending)),
    results=("values", "indices"), returns="sort", self = to_index)


@primitive("TopkBackward0", results=("values", "indices"))
@on_vectors
def topk_dim(self, *, k, dim=-1, largest=True):
    """The k largest (or smallest) along `dim`, sorted, and their indices in self."""
    order = np.take(in_order(self, dim, largest), np.arange(k), dim)
    return np.take_along_axis(self, order, dim), order
topk_dim.defvjp(self = to_index)


argsort_dim = row("argsort_dim", "", "The indices that sort the elements along `dim`.",
    on_vectors(lambda self, *, dim=-1, descending=False: in_order(self, dim, descending)))


def in_order(self: Array, dim: int, descending: bool) -> Array:
    """The indices that sort along `dim`. Equal elements keep their order, and nan counts as the largest."""
    if not descending:
        return np.argsort(self, axis=dim, kind="stable").astype(np.int64, copy=False)
    backwards = np.argsort(np.flip(self, dim), axis=dim, kind="stable")
    return np.flip(self.shape[dim] - 1 - backwards, dim).astype(np.int64, copy=False)


@tensor_call()
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None) -> Any:
    """The sorted elements along `dim`, and their indices in `input`."""
    check_dim(dim, input.ndim)
    if stable is not None:
        return sort_stable(input, dim=dim, descending=descending, stable=stable)
    return sort_dim(input, dim=dim, descending=descending)


@tensor_call("torch.msort", "Tensor.msort")
def msort(input: Tensor) -> Any:
    """The elements, sorted along the first dimension."""
    return sort_dim(input, dim=0).values


@tensor_call()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that sort the elements along `dim`."""
    return argsort_dim(input, dim=check_dim(dim, input.ndim), descending=descending)


@tensor_call()
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest along `dim`, and their indices. Raises RuntimeError: k is out of range."""
    check_dim(dim, input.ndim)
    refuse_if(not 0 <= k <= (input.shape[dim] if input.ndim else 1), "selected index k out of range")
    return topk_dim(input, k=k if input.ndim else 1, dim=dim, largest=largest)


@composite
def flip(input: Any, dims: tuple[int, ...]) -> Any:
    """The elements in reverse order along `dims`."""
    return flip_dims(input, dims=tuple(dims))


@inlined
def repeat_backward(grad: Any, repeats: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """The sum over the repetitions. Each repetition becomes a dimension in front of its length."""
    lengths = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    apart = tuple(n for pair in zip(repeats, lengths, strict=True) for n in pair)
    return reshape(sum_dim(reshape(grad, apart), dim=tuple(range(0, len(apart), 2))), sizes)


@of_dims
def flip_any(input: Tensor, *dims: Any, **named: Any) -> Any:
    """The elements in reverse order along `dims`, as a copy. Raises TypeError: no dims."""
    given = listed(dims or tuple(named.values()), "flip", "dims")
    distinct_dims(given, input.ndim)
    return flip_dims(input, dims=given)


def _flipped(name: str, dim: int, which: str) -> None:
    """Publish fliplr or flipud."""

    def flipped(input: Tensor) -> Any:
        refuse_if(input.ndim <= dim, lambda: f"Input must be >= {dim + 1}-d.")
        return flip_dims(input, dims=(dim,))

    does = f"""{which} in reverse order.

    Raises:
        RuntimeError: there are none.
    """
    public(name)(renamed(flipped, name, does))


_flipped("fliplr", 1, "Columns")
_flipped("flipud", 0, "Rows")


@public
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Any:
    """Elements moved along `dims`, or in the flattened tensor. Raises RuntimeError: not as many shifts as dims."""
    shifts, dims = ints(shifts), ints(dims if dims is not None else ())
    refuse_if(not shifts, "`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for d in dims:
        check_dim(d, input.ndim)
    return roll_dims(input, shifts=shifts, dims=dims)


@public
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Any:
    """`k` quarter turns in the plane of two dimensions. Raises RuntimeError: not two dimensions."""
    refuse_if(len(dims) != 2, lambda: f"expected total rotation dims == 2, but got dims = {len(dims)}")
    refuse_if(input.ndim < 2, lambda: f"expected total dims >= 2, but got total dims = {input.ndim}")
    if from_front(dims[0], input.ndim) == from_front(dims[1], input.ndim):
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return rot90_dims(input, k=k, dims=tuple(dims))


@public("Tensor.repeat")
def repeat(input: Tensor, *repeats: Any) -> Any:
    """The whole tensor, repeated along each dimension. Raises RuntimeError: a dimension is missing, or a number is negative."""
    counts = listed(repeats, "repeat", "repeats")
    if len(counts) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    lengths = [c * n for c, n in zip(counts, (1,) * (len(counts) - input.ndim) + tuple(input.shape), strict=True)]
    refuse_if(min(lengths, default=0) < 0, lambda: f"Trying to create tensor with negative dimension {min(lengths)}: {lengths}")
    return repeat_dims(input, repeats=counts)


@of_dims
def tile(input: Tensor, *dims: Any, **named: Any) -> Any:
    """Like repeat, but missing leading dimensions count as 1. Raises TypeError: no dims."""
    counts = listed(dims or tuple(named.values()), "tile", "dims")
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


@public
def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element (or slice along `dim`) repeated in place. `repeats` is a number, or a tensor with one number for each.

    Raises RuntimeError: in PyTorch's words.
    """
    if dim is None:
        input, dim = flatten(input), 0
    dim = from_front(dim, input.ndim)
    if isinstance(repeats, Tensor) and repeats.numel() != 1:
        return index_select(input, dim, _places(repeats, input.shape[dim]))
    count = int(repeats)
    refuse_if(count < 0, "Repeats must be non-negative")
    apart = shape.unsqueeze(input, dim=dim + 1)
    wide = expand(apart, (*input.shape[: dim + 1], count, *input.shape[dim + 1 :]))
    sizes = (*input.shape[:dim], input.shape[dim] * count, *input.shape[dim + 1 :])
    return view(shape.clone(wide, memory_format="contiguous"), *sizes)


def _places(repeats: Tensor, length: int) -> Tensor:
    """0 repeated as often as the first number says, then 1, ..."""
    refuse_if(repeats.numel() != length, lambda:
        "repeats must have the same size as input along dim, but got "
        f"repeats.size(0) = {repeats.numel()} and input.size(0) = {length}")
    refuse(repeats, "f", "repeat_interleave_cpu")
    refuse_if(repeats.numel() and repeats._data.min() < 0, "repeats can not be negative")
    return Tensor(np.repeat(np.arange(length), repeats._data))
