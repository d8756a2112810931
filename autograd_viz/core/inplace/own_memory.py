"""x.set_(), x.resize_(): the tensor itself gets other memory, or more or less of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.public import public
from ..ops.shape.strided import cut_out, memory_of
from ..tensor.creation import sizes_of
from ..tensor.tensor import Tensor


@public("Tensor.set_")
def set_(self: Tensor, source: Tensor | None = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """In place: share the memory of `source`, or have none.

    Args:
        self: what gets other memory.
        source: whose memory; without it `self` is empty afterwards.
        storage_offset: where in that memory to begin, in elements, if a size is given.
        size: the new shape; that of `source` if left out.
        stride: how many elements apart neighbours are; row after row if left out.

    Raises:
        RuntimeError: another type, a leaf that requires grad is changed while recording, or the memory is too small.
        TypeError: `source` is no tensor.
    """
    from .inplace import check_inplace

    if source is not None and not isinstance(source, Tensor):
        raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor, not {type(source).__name__}")
    if source is not None and source.dtype is not self.dtype:
        raise RuntimeError(f"Could not set tensor of type {source.dtype.cpp} to a tensor of type {self.dtype.cpp}")
    check_inplace(self, source is not None and source.requires_grad)
    if source is None:
        self._data = np.empty(0, self._data.dtype)
    elif size is None:
        self._data = source._data
    else:
        shape = sizes_of("set_", (size,))
        steps = _row_after_row(shape) if stride is None else tuple(stride)
        self._data = cut_out(memory_of(source._data)[0], storage_offset, shape, steps)
    self._bump_version()
    if self._extra is not None:
        self._extra.accumulator = None  # a graph that is there leads to the leaf that it was
    return self


def _row_after_row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


@public("Tensor.resize_")
def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """In place: as many elements as the shape has, from the first on, row after row, as they lie in memory.

    What memory does not hold yet is zero; then `self` gets memory of its own.

    Raises:
        RuntimeError: `self` requires grad, or a length is negative.
        TypeError: lengths that are not whole.
    """
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = sizes_of("resize_", size)
    row, first = memory_of(self._data)
    if first + math.prod(shape) > row.size:
        row = np.concatenate([row[first:], np.zeros(math.prod(shape) - (row.size - first), row.dtype)])
        first = 0
    self._data = row[first : first + math.prod(shape)].reshape(shape)
    self._bump_version()
    return self


@public("Tensor.resize_as_")
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """In place: `resize_` to the shape of another tensor."""
    return resize_(self, *the_template.shape)
