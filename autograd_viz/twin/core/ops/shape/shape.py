"""The same elements in another shape. Most results are views, which share memory with their input."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as strided_view

from ...base.names import sum_dim, zeros_like
from ...op import composite, inlined, primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, check_dim, refuse_if

view_sizes = row("view_sizes", "ViewBackward0", "Another shape over the same memory.",
    lambda self, *, size: self.reshape(size), view=True)
view_bits = row("view_bits", "", "The bits of the same memory, read as another type. It has no gradient.",
    lambda self, *, dtype: self.view(dtype.numpy), view=True, cuts=True)
reshape_alias = row("reshape_alias", "ReshapeAliasBackward0",
    "A reshape without a copy, of memory with gaps or in another order.",
    lambda self, *, size: self.reshape(size), view=True,
    self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
unsafe_view = row("unsafe_view", "UnsafeViewBackward0", "The second half of a reshape with a copy.",
    lambda self, *, size: self.reshape(size),
    self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))
alias = row("alias", "AliasBackward0", "A view of the whole tensor: `x[...]`.", lambda self: self[...], view=True,
    self = lambda grad: grad)


@primitive("ExpandBackward0", view=True)
def expand_sizes(self, *, size):
    """Repeat along dimensions of length 1, without copying."""
    if not self.ndim:  # a single number takes a seventh of the time
        return np.ndarray(size, self.dtype, self, 0, (0,) * len(size))
    lead = len(size) - self.ndim
    kept = zip(self.shape, size[lead:], self.strides, strict=True)
    steps = [0 if have != want else step for have, want, step in kept]
    for i in reversed(range(lead)):  # as in PyTorch, the stride of a new dimension spans all that follow
        steps.insert(0, size[i + 1] * steps[0] if size[i] == 1 and steps else 0)
    return strided_view(self, size, steps)  # writeable, because a part without repeats may be written


@public_primitive("t", "TBackward0", view=True)
def t(self):
    """Transpose of a matrix. A vector is returned unchanged. Raises RuntimeError: more than two dimensions."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


permute_dims = row("permute_dims", "PermuteBackward0", "Dimensions in another order.",
    lambda self, *, dims: self.transpose(dims), view=True,
    self = lambda grad, dims: permute_dims(grad, dims=inverse_order(dims)))


@public_primitive("transpose swapaxes swapdims", "TransposeBackward0", view=True)
def transpose_dims(self, *, dim0, dim1):
    """Two dimensions swapped."""
    most = self.ndim
    if not (-most <= dim0 < most and -most <= dim1 < most):
        check_dim(dim0, most), check_dim(dim1, most)
    return self.swapaxes(dim0, dim1) if most else self[...]


unsqueeze = public_row("unsqueeze", "UnsqueezeBackward0", "A new dimension of length 1 at `dim`.",
    lambda self, *, dim: self.reshape(
        (*self.shape[:(d := check_dim(dim, most := self.ndim + 1) % most)], 1, *self.shape[d:])), view=True,
    self = lambda grad, dim: squeeze_dim(grad, dim=dim))
squeeze_all = row("squeeze_all", "SqueezeBackward0", "Remove the dimensions of length 1.",
    lambda self: self.squeeze(), view=True,
    self = lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes))

squeeze_dim = row("squeeze_dim", "SqueezeBackward1", "Remove dimension `dim`, if its length is 1.",
    lambda self, *, dim: self.squeeze(dim) if (self.shape or (0,))[check_dim(dim, self.ndim)] == 1 else self[...], view=True,
    self = lambda grad, self_sym_sizes, dim: reshape(grad, self_sym_sizes))


@primitive("SqueezeBackward2", view=True)
def squeeze_dims(self, *, dim):
    """Remove those of the dimensions `dim` whose length is 1."""
    dims = tuple(check_dim(d, self.ndim) for d in dim)
    return self.squeeze(tuple(d for d in dims if self.shape[d] == 1)) if self.ndim else self[...]
squeeze_dims.defvjp(self = lambda grad, self_sym_sizes, dim: reshape(grad, self_sym_sizes))


@public_primitive("clone", "CloneBackward0")
def clone(self, *, memory_format=None):
    """A copy in new memory, in the same memory order, or row-major if `memory_format` is contiguous."""
    keeps_order = 0 not in self.strides and "contiguous" not in str(memory_format)
    return self.copy("K" if keeps_order else "C")
clone.defvjp(self = lambda grad: grad)


copy_into = row("copy_into", "torch::autograd::CopyBackwards",
    "`src` in the shape and type of `self`. The values of `self` are overwritten.",
    lambda self, src: np.array(np.broadcast_to(src, self.shape), dtype=self.dtype),
    self = lambda grad: zeros_like(grad),
    src  = lambda grad: grad)
detach = public_row("detach", "", "A tensor with the same memory, outside the graph.", lambda self: self, view=True, cuts=True)


# -- as_strided: any view of the memory, given by sizes and strides. Its gradient also goes through the memory. ---------------

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
    refuse_if(0 not in size and needed > row.size, lambda:
        f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and itemsize {row.itemsize} "
        f"requiring a storage size of {needed * row.itemsize} are out of bounds for storage of size {row.nbytes}")
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
@inlined
def inverse_order(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes `dims`."""
    front = [d % len(dims) for d in dims]
    return tuple([front.index(i) for i in range(len(front))])


@composite
def expand(input: Any, size: tuple[int, ...]) -> Any:
    """Repeat along dimensions of length 1 (new ones in front)."""
    return expand_sizes(input, size=tuple(size))


@composite
def reshape(input: Any, size: tuple[int, ...]) -> Any:
    """Another shape: a view if the memory allows, else a copy."""
    return view_sizes(input, size=tuple(size))


@composite
def sum_to(grad: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: sum over each dimension that was expanded or added."""
    lead = grad.ndim - len(shape)
    sizes = grad.shape
    stretched = [i for i in range(len(sizes)) if i < lead or (shape[i - lead] == 1 and sizes[i] != 1)]
    if stretched:
        grad = sum_dim(grad, dim=tuple(stretched), keepdim=True)
    return view_sizes(grad, size=tuple(shape)) if lead else grad


@public("as_strided")
def as_strided_within(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """The view of the memory of `input` with these sizes and strides, in elements."""
    before = input.storage_offset()
    return as_strided(input, size=tuple(size), stride=tuple(stride), storage_offset=storage_offset, before=before)
