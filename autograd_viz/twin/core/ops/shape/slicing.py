"""Parts of a tensor, as views: a slice, a diagonal, windows, all slices."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as strided_view

from ...base.names import cat, stack
from ...op import primitive, public_primitive, public_row, row, writer
from ...tensor import check_dim, from_front, refuse_if

TO_THE_END = 2**63 - 1  # the `end` of x[1:]


def along(array, dim, part) -> tuple[Any, ...]:
    """The NumPy index that takes `part` along `dim`, and everything along the other dimensions."""
    return (*(slice(None),) * (dim % array.ndim), part, ...)


new_zeros = row("new_zeros", "", "Zeros in another shape and the same type.", lambda self, *, size: np.zeros(size, self.dtype))


@public_primitive("select", "SelectBackward0", view=True)
def select(self, *, dim, index):
    """One slice along `dim`. That dimension is removed. Raises IndexError: out of range, or a 0-d tensor."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    length = self.shape[check_dim(dim, self.ndim)]
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim % self.ndim}"
        )
    return self[along(self, dim, index) if dim else (index, ...)]


@primitive("SelectBackwardBackward0")
def select_backward(grad_output, *, size, dim, index):
    """Zeros of shape `size`, with grad_output at the slice."""
    out = np.zeros(size, grad_output.dtype)
    out[along(out, dim, index)] = grad_output
    return out
select_backward.defvjp(grad_output = lambda grad, dim, index: select(grad, dim=dim, index=index))


@public_primitive("Tensor.slice", "SliceBackward0", view=True)
def slice_dim(self, *, dim=0, start=0, end=TO_THE_END, step=1):
    """Every `step`-th slice from `start` to before `end`.

    Raises:
        IndexError: a 0-d tensor.
        RuntimeError: `step` is not positive.
    """
    if self.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    return self[along(self, check_dim(dim, self.ndim), slice(start, end, step))]
slice_dim.defvjp(self = lambda grad, self_sym_sizes, dim, start, end, step:
    slice_backward(grad, size=self_sym_sizes, dim=dim, start=start, end=end, step=step))


@primitive("SliceBackwardBackward0")
def slice_backward(grad_output, *, size, dim, start, end, step):
    """Zeros of shape `size`, with grad_output at the slices."""
    out = np.zeros(size, grad_output.dtype)
    out[along(out, dim, slice(start, end, step))] = grad_output
    return out
slice_backward.defvjp(
    grad_output = lambda grad, dim, start, end, step: slice_dim(grad, dim=dim, start=start, end=end, step=step))


@primitive("UnbindBackward0", view=True, several=True)
def unbind_dim(self, *, dim):
    """All slices along `dim`."""
    refuse_if(self.ndim == 0, lambda: f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    check_dim(dim, self.ndim)
    return tuple(self[along(self, dim, i)] for i in range(self.shape[dim]))
unbind_dim.defvjp(self = lambda grads, dim: stack(grads, dim))


def pieces(array, lengths, dim) -> tuple[Any, ...]:
    """Consecutive pieces of these lengths, as views."""
    total = array.shape[check_dim(dim, array.ndim)]
    if sum(lengths) != total:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {total} (input tensor's size at dimension {dim}), but got "
            f"split_sizes={list(lengths)}"
        )
    ends = np.cumsum(lengths, dtype=int).tolist()
    return tuple(array[along(array, dim, slice(end - n, end))] for n, end in zip(lengths, ends, strict=True))


def equal_lengths(array, most, dim) -> list[int]:
    """The lengths of pieces of length `most` along `dim`. The last piece may be shorter."""
    refuse_if(array.ndim == 0, "split expects at least a 1-dimensional tensor")
    total = array.shape[check_dim(dim, array.ndim)]
    refuse_if(most < 0, lambda: f"split expects split_size be non-negative, but got split_size={most}")
    if most == 0 and total:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}")
    return [most] * (total // most) + ([total % most] if total % most else []) if total else [0]


split_equally = row("split_equally", "SplitBackward0", "Consecutive pieces of length `split_size`.",
    lambda self, *, split_size, dim: pieces(self, equal_lengths(self, split_size, dim), dim), view=True, several=True,
    self = lambda grads, self_sym_sizes, split_size, dim: cat(grads, dim=dim))
split_with_lengths = row("split_with_lengths", "SplitWithSizesBackward0", "Consecutive pieces of these lengths.",
    lambda self, *, split_sizes, dim: pieces(self, split_sizes, dim), view=True, several=True,
    written=writer("split"),
    self = lambda grads, self_sym_sizes, split_sizes, dim: cat(grads, dim=dim))


def diagonal_dims(ndim, dim1, dim2) -> tuple[int, int]:
    """Both dims counted from the front; they must differ."""
    first, second = from_front(dim1, ndim), from_front(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


def diagonal_view(array, offset, dim1, dim2) -> Any:
    """A writeable view of a diagonal."""
    first, second = diagonal_dims(array.ndim, dim1, dim2)
    corner = array[along(array, second, slice(offset, None)) if offset >= 0 else along(array, first, slice(-offset, None))]
    rest = [d for d in range(array.ndim) if d not in (first, second)]
    lengths = [corner.shape[d] for d in rest] + [min(corner.shape[first], corner.shape[second])]
    steps = [corner.strides[d] for d in rest] + [corner.strides[first] + corner.strides[second]]
    return strided_view(corner, lengths, steps, writeable=array.flags.writeable)


diagonal = public_row("diagonal", "DiagonalBackward0", "The diagonal of dimensions `dim1` and `dim2`, as the last dimension.",
    lambda self, *, offset=0, dim1=0, dim2=1: diagonal_view(self, offset, dim1, dim2), view=True,
    self = lambda grad, self_sym_sizes, offset, dim1, dim2:
        diagonal_backward(grad, size=self_sym_sizes, offset=offset, dim1=dim1, dim2=dim2))


@primitive("DiagonalBackwardBackward0")
def diagonal_backward(grad_output, *, size, offset, dim1, dim2):
    """Zeros of shape `size`, with grad_output on the diagonal."""
    out = np.zeros(size, grad_output.dtype)
    diagonal_view(out, offset, dim1, dim2)[...] = grad_output
    return out
diagonal_backward.defvjp(grad_output = lambda grad, offset, dim1, dim2: diagonal(grad, offset=offset, dim1=dim1, dim2=dim2))


@public_primitive("Tensor.unfold", "UnfoldBackward0", view=True, written=writer("unfold"))
def unfold_windows(self, *, dimension, size, step):
    """Windows of length `size` along `dimension`, `step` apart. A new last dimension runs inside a window.

    Raises RuntimeError: `size` or `step` is out of range.
    """
    at, most = check_dim(dimension, self.ndim), self.shape[dimension] if self.ndim else 1
    if not 0 <= size <= most:
        raise RuntimeError(
            f"size is {size} but must be >= 0" if size < 0
            else f"maximum size for tensor at dimension {at % max(self.ndim, 1)} is {most} but size is {size}"
        )
    refuse_if(step <= 0, lambda: f"step is {step} but must be > 0")
    if self.ndim == 0:
        return self.reshape(1)[:size]
    lengths, steps = list(self.shape), list(self.strides)
    lengths[at], steps[at] = (most - size) // step + 1, step * self.strides[at]
    return strided_view(self, (*lengths, size), (*steps, self.strides[at]), writeable=self.flags.writeable)
unfold_windows.defvjp(self = lambda grad, self_sym_sizes, dimension, size, step:
    unfold_backward(grad, input_sizes=self_sym_sizes, dim=dimension, size=size, step=step))


@primitive("UnfoldBackwardBackward0")
def unfold_backward(grad_in, *, input_sizes, dim, size, step):
    """Zeros of shape `input_sizes`, with each window added at its position."""
    out = np.zeros(input_sizes or (1,), grad_in.dtype)
    dim %= out.ndim  # grad_in has one dimension more
    count = grad_in.shape[dim] if input_sizes else 1
    for k in range(size):
        out[along(out, dim, slice(k, k + (count - 1) * step + 1, step))] += grad_in[..., k]
    return out.reshape(input_sizes)
unfold_backward.defvjp(grad_in = lambda grad, dim, size, step: unfold_windows(grad, dimension=dim, size=size, step=step))
