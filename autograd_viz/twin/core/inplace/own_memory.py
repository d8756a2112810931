"""x.set_(), x.resize_(): the tensor itself gets other memory, or another amount of memory."""

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
    """In place: share the memory of `source`, or become empty.

    Args:
        self: the tensor that gets other memory.
        source: the owner of the memory; without it `self` becomes empty.
        storage_offset: the first element in that memory, if `size` is given.
        size: the new shape; default: that of `source`.
        stride: the distance between neighbours in elements; default: row-major.

    Raises:
        RuntimeError: another type, a leaf that requires grad is changed while recording, or the memory is too small.
        TypeError: `source` is not a tensor.
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
        self._extra.accumulator = None  # an existing graph leads to the old leaf
    return self


def _row_after_row(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


@public("Tensor.resize_")
def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """In place: take the elements of the memory, from the first on, in row-major order.

    If the memory is too small, `self` gets new memory, filled up with zeros.

    Raises:
        RuntimeError: `self` requires grad, or a length is negative.
        TypeError: a length is not a whole number.
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
