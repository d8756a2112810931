"""x.squeeze_(), x.t_(), x.as_strided_(): the tensor itself gets another shape; x.set_(), x.resize_(): other memory."""

from __future__ import annotations

import inspect
import math
from typing import Any, cast

import numpy as np

from ..base.grad_mode import recording
from ..base.public import public
from ..op.primitive import Primitive, primitive
from ..ops.shape import shape
from ..ops.shape.shape import cut_out, memory_of
from ..ops.shape.views import listed
from ..tensor import Tensor, refuse_if
from ..tensor.creation import sizes_of
from .inplace import check_inplace


def renamed(view: Primitive, node_name: str) -> Primitive:
    """The op of `view` with the node name of its in-place form."""

    def forward(self: Any, **options: Any) -> Any:
        return view.forward(self, **options)

    forward.__name__, forward.__doc__ = f"{view.name}_in_place", view.__doc__
    cast(Any, forward).__signature__ = inspect.signature(view.forward)
    op = primitive(node_name, view=True)(forward)
    op.defvjp(self=cast(Any, view.rules[0]).on_arrays)
    return op


squeeze_all = renamed(shape.squeeze_all, "SqueezeBackward3")
squeeze_dim = renamed(shape.squeeze_dim, "SqueezeBackward4")
squeeze_dims = renamed(shape.squeeze_dims, "SqueezeBackward5")
unsqueeze = renamed(shape.unsqueeze, "UnsqueezeBackward1")
transpose = renamed(shape.transpose_dims, "TransposeBackward1")
t = renamed(shape.t, "TBackward1")
as_strided = renamed(shape.as_strided, "AsStridedBackward1")


def become(self: Tensor, op: Primitive, **options: Any) -> Tensor:
    """Replace `self` by op(self): its array and its history."""
    check_inplace(self, False)
    old = Tensor(self._data)
    old._requires_grad, old._node, old._output_nr = self.requires_grad, self._node, self._output_nr
    old._made_by, old._view = self._made_by, self._view
    result = op(old, **options)
    self._data = result._data
    self._bump_version()
    if self._view is not None and result._view is not None:
        self._view.cuts = result._view.cuts  # the kind stays the same: forbidden changes stay forbidden
    if recording():
        if self._view is not None:
            self._view.settle()
        self._requires_grad, self._node, self._output_nr = result._requires_grad, result._node, result._output_nr
        self._made_by = result._made_by
    return self


@public("Tensor.squeeze_")
def squeeze_(self: Tensor, *given: Any, dim: Any = None) -> Tensor:
    """In place: remove dimensions of length 1."""
    given = given if dim is None else (dim,)
    if not given:
        return become(self, squeeze_all)
    if len(given) == 1 and isinstance(given[0], int):
        return become(self, squeeze_dim, dim=given[0])
    return become(self, squeeze_dims, dim=listed(given))


@public("Tensor.unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In place: add a dimension of length 1."""
    return become(self, unsqueeze, dim=dim)


@public("Tensor.transpose_", "Tensor.swapaxes_", "Tensor.swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In place: swap two dimensions."""
    return become(self, transpose, dim0=dim0, dim1=dim1)


@public("Tensor.as_strided_")
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """In place: view the memory with this shape, these strides and this offset, in elements."""
    before = self.storage_offset()
    become(self, as_strided, size=tuple(size), stride=tuple(stride), storage_offset=storage_offset, before=before)
    if self._view is None and storage_offset not in (None, before):
        self._more.first = storage_offset
    return self


@public("Tensor.t_")
def t_(self: Tensor) -> Tensor:
    """In place: transpose a matrix."""
    return become(self, t)


@public("Tensor.set_")
def set_(self: Tensor, source: Tensor | None = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """In place: share the memory of `source`, or without one become empty.

    With a shape `size`, it begins at element `storage_offset` of that memory. `stride` is in elements, by default row-major.
    Raises TypeError: `source` is not a tensor. Raises RuntimeError: another type, a leaf that requires grad is changed while
    recording, or the memory is too small.
    """
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
        steps = tuple(math.prod(shape[d + 1 :]) for d in range(len(shape))) if stride is None else tuple(stride)
        self._data = cut_out(memory_of(source._data)[0], storage_offset, shape, steps)
    self._bump_version()
    if self._extra is not None:
        self._extra.accumulator = None  # an existing graph leads to the old leaf
    return self


@public("Tensor.resize_")
def resize_(self: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """In place: take the elements of the memory, from the first on, in row-major order; new memory is filled up with zeros.

    Raises RuntimeError: `self` requires grad, or a length is negative. Raises TypeError: a length is not a whole number.
    """
    refuse_if(self.requires_grad, "cannot resize variables that require grad")
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
