"""Parts of a tensor, as views: a slice, pieces, a diagonal, windows, all slices."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as strided_view

from ...base.names import cat, stack
from ...op import primitive, public, public_primitive, public_row, renamed, row, writer
from ...tensor import Tensor, check_dim, from_front, refuse_if

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
    """Every `step`-th slice from `start` to before `end`. Raises IndexError: a 0-d tensor. RuntimeError: no positive `step`."""
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
    refuse_if(first == second, lambda: f"diagonal dimensions cannot be identical {dim1}, {dim2}")
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
    refuse_if(not 0 <= size <= most, lambda:
        f"size is {size} but must be >= 0" if size < 0
        else f"maximum size for tensor at dimension {at % max(self.ndim, 1)} is {most} but size is {size}")
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


@public
def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Pieces of one length, or of the given lengths, as views."""
    if isinstance(split_size_or_sections, list | tuple):
        return split_with_sizes(input, split_size_or_sections, dim)
    return split_equally(input, split_size=split_size_or_sections, dim=dim)


@public
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Pieces of the given lengths, as views."""
    return split_with_lengths(input, split_sizes=tuple(split_sizes), dim=dim)


@public
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` pieces of one length, as views. The last one may be shorter."""
    refuse_if(input.ndim == 0, "chunk expects at least a 1-dimensional tensor")
    refuse_if(chunks <= 0, lambda: f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = -(-input.shape[check_dim(dim, input.ndim)] // chunks)
    return split(input, length, dim) if length else split_with_sizes(input, (0,) * chunks, dim)


@public
def tensor_split(input: Tensor, indices_or_sections: Any = None, dim: int = 0, **named: Any) -> Any:
    """Pieces of nearly equal length, or that end at the indices, as views. Raises RuntimeError: in PyTorch's words."""
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
    return tuple(slice_dim(input, dim=dim, start=a, end=b, step=1) for a, b in zip(starts, ends, strict=True))


def _split_along(name: str, least: int, dim: int, does: str) -> None:
    """Publish hsplit, vsplit or dsplit, for tensors with at least `least` dimensions."""

    def split_along(input: Tensor, indices_or_sections: Any) -> Any:
        refuse_if(input.ndim < least, lambda:
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
            "dimensions!")
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
    return unbind_dim(input, dim=dim)


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
    return slice_dim(input, dim=dim, start=first, end=first + length, step=1)


@public("linalg.diagonal")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of the matrices in `A`."""
    return diagonal(A, offset=offset, dim1=dim1, dim2=dim2)
