"""as_strided: any view of the memory, given by sizes and strides. Its gradient also goes through the memory."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as strided_view

from ...op import primitive, public
from ...tensor import Tensor, refuse_if


def memory_of(array) -> tuple[Any, int]:
    """The whole memory behind an array, as a vector of its type, and the index at which `array` starts."""
    owner = below = array
    while isinstance(below, np.ndarray):
        owner, below = below, below.base
        if below is not None and not isinstance(below, np.ndarray):  # NumPy's as_strided puts another object between the two
            below = getattr(below, "base", None)
    row = strided_view(owner, (owner.size,), (owner.itemsize,), writeable=owner.flags.writeable).view(array.dtype)
    return row, (array.ctypes.data - owner.ctypes.data) // array.itemsize


def cut_out(row, start, size, stride) -> Any:
    """The view of a vector of memory with these sizes and strides."""
    refuse_if(len(size) != len(stride), "mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    needed = 1 + start + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if 0 not in size and needed > row.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and itemsize {row.itemsize} "
            f"requiring a storage size of {needed * row.itemsize} are out of bounds for storage of size {row.nbytes}"
        )
    repeats = any(s == 0 and n > 1 for n, s in zip(size, stride, strict=True))
    writeable = row.flags.writeable and not repeats  # as in PyTorch, other overlaps are not checked
    return strided_view(row[start:], size, [s * row.itemsize for s in stride], writeable=writeable)


def places(size, stride, storage_offset) -> Any:
    """The index in memory of each element of a view."""
    at = np.full(size, storage_offset)
    for d, (n, s) in enumerate(zip(size, stride, strict=True)):
        at += (np.arange(n) * s).reshape((n,) + (1,) * (len(size) - d - 1))
    return at


@primitive("AsStridedBackward0", view=True)
def as_strided(self, *, size, stride, storage_offset=None, before=0):
    """The view of the memory of `self` with these sizes and strides, in elements. `before` elements lie before `self`."""
    row, start = memory_of(self)
    return cut_out(row, start if storage_offset is None else start - before + storage_offset, size, stride)
as_strided.defvjp(
    self = lambda grad, _self_sym_sizes, _self_sym_strides, _self_sym_storage_offset, size, stride, storage_offset:
        as_strided_backward(grad, sizes=_self_sym_sizes, strides=_self_sym_strides, start=_self_sym_storage_offset,
                            size=size, stride=stride, storage_offset=storage_offset))


def through_memory(sizes, strides, start, size, stride, storage_offset) -> tuple[Any, Any]:
    """For each element of the second geometry: the element of the first at the same memory index, and whether one exists."""
    there = places(sizes, strides, start).ravel()
    wanted = places(size, stride, start if storage_offset is None else storage_offset).ravel()
    if not there.size:
        return np.zeros(wanted.size, int), np.zeros(wanted.size, bool)
    distinct, first = np.unique(there, return_index=True)
    slot = np.searchsorted(distinct, wanted).clip(0, len(distinct) - 1)
    return first[slot], distinct[slot] == wanted


@primitive("AsStridedBackwardBackward0")
def as_strided_backward(grad_output, *, sizes, strides, start, size, stride, storage_offset):
    """The input's gradient: each element sums the gradients of the view's elements at its memory index."""
    which, known = through_memory(sizes, strides, start, size, stride, storage_offset)
    out = np.zeros(int(np.prod(sizes)), grad_output.dtype)
    np.add.at(out, which[known], grad_output.ravel()[known])
    return out.reshape(sizes)
as_strided_backward.defvjp(grad_output = lambda grad, sizes, strides, start, size, stride, storage_offset:
    as_strided_read(grad, sizes=sizes, strides=strides, start=start, size=size, stride=stride,
                    storage_offset=storage_offset))


@primitive("AsStridedReadBackward0")
def as_strided_read(self, *, sizes, strides, start, size, stride, storage_offset):
    """The view's elements if `self` had the first geometry in memory, with zeros around it."""
    which, known = through_memory(sizes, strides, start, size, stride, storage_offset)
    out = np.zeros(len(known), self.dtype)
    out[known] = self.ravel()[which[known]]
    return out.reshape(size)
as_strided_read.defvjp(self = lambda grad, sizes, strides, start, size, stride, storage_offset:
    as_strided_backward(grad, sizes=sizes, strides=strides, start=start, size=size, stride=stride,
                        storage_offset=storage_offset))


# fmt: on
@public("as_strided")
def as_strided_within(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """The view of the memory of `input` with these sizes and strides, in elements."""
    before = input.storage_offset()
    return as_strided(input, size=tuple(size), stride=tuple(stride), storage_offset=storage_offset, before=before)
