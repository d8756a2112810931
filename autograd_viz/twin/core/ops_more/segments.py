"""Reductions over segments of neighbouring elements, such as the words of sentences of different lengths."""
# fmt: off

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.names import no_derivative
from ..base.public import public
from ..op.primitive import primitive
from ..tensor.arguments import check_dim
from ..tensor.tensor import Tensor

# the reduction along the first dimension, and its default start value
_START: dict[str, tuple[Any, float]] = {
    "sum":  (np.add, 0),
    "mean": (np.add, 0),
    "prod": (np.multiply, 1),
    "max":  (np.maximum, -np.inf),
    "min":  (np.minimum, np.inf),
}


@primitive("SegmentReduceBackward0")
def segment_reduce_along(data, *, reduce, lengths=None, offsets=None, axis=0, initial=None):
    """Each segment along `axis`, reduced to one element. `initial` takes part."""
    bounds = bounds_of(lengths, offsets)
    out = np.empty((*bounds.shape[:-1], bounds.shape[-1] - 1, *data.shape[axis + 1:]), data.dtype)
    combine, start = _START[reduce]
    for place, part in segments(bounds):
        piece = data[part]
        value = combine.reduce(piece, axis=0, initial=start if initial is None else initial)
        if reduce == "mean" and (len(piece) or initial is None):
            value = value / len(piece) if len(piece) else np.nan
        out[place] = value
    return out
segment_reduce_along.defvjp(
    data = lambda grad, result, data, reduce, lengths, offsets, axis, initial:
        segment_reduce_backward(grad, result, data, reduce=reduce, lengths=lengths, offsets=offsets, initial=initial),
)


@primitive("torch::autograd::NotImplemented")
def segment_reduce_backward(grad, output, data, *, reduce, lengths, offsets, initial):
    """The gradient of each element: its segment's gradient, times its share in a mean or tie, or times the others' product."""
    out = np.zeros_like(data)
    for place, part in segments(bounds_of(lengths, offsets)):
        piece, g = data[part], grad[place]
        if reduce == "sum":
            out[part] = g
        elif reduce == "mean":
            out[part] = g / max(len(piece), 1)
        elif reduce == "prod":
            others = [np.delete(piece, i, 0).prod(0) for i in range(len(piece))]
            out[part] = g * np.reshape(others, piece.shape) * (1 if initial is None else initial)
        else:
            chosen = (piece == output[place]) | np.isnan(piece)
            out[part] = chosen * (g / np.maximum(chosen.sum(0), 1))
    return out
segment_reduce_backward.defvjp(
    grad   = lambda grad: no_derivative("_segment_reduce_backward"),
    output = lambda grad: no_derivative("_segment_reduce_backward"),
    data   = lambda grad: no_derivative("_segment_reduce_backward"),
)


# fmt: on
def bounds_of(lengths: Any, offsets: Any) -> Any:
    """The start of each segment, and the end of the last one."""
    if offsets is not None:
        return offsets
    return np.concatenate([np.zeros((*lengths.shape[:-1], 1), lengths.dtype), np.cumsum(lengths, -1)], -1)


def segments(bounds: Any) -> Iterator[tuple[Any, Any]]:
    """For each segment, its index in the result and the index of its elements."""
    for row in np.ndindex(bounds.shape[:-1]):
        for k, (begin, end) in enumerate(zip(bounds[row], bounds[row][1:], strict=False)):
            yield (*row, k), (*row, slice(begin, end))


@public("torch.segment_reduce", "torch._segment_reduce")
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None,
    offsets: Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Any:  # fmt: skip
    """The sum, mean, product, max or min of each segment along `axis`.

    Args:
        data: the elements.
        reduce: "sum", "mean", "prod", "max" or "min".
        lengths: the lengths of the segments, in order.
        indices: not supported, as in PyTorch.
        offsets: the start of each segment and the end of the last one, instead of lengths.
        axis: the last dimension of `lengths`.
        unsafe: do not check that the sum of the lengths is the size of `data`.
        initial: the start value of each segment.

    Raises:
        RuntimeError: segments that do not fit the data, or another reduction.
    """
    names = {"amax": "max", "amin": "min"}
    if names.get(reduce, reduce) not in _START:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    given = offsets if offsets is not None else lengths
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    axis = check_dim(axis, data.ndim) % data.ndim
    if axis != given.ndim - 1:
        which = "lengths" if offsets is None else "offsets"
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {which} but got {axis}.")
    if lengths is not None and offsets is None and not unsafe:
        _check_lengths(lengths._data, data.shape[axis])
    return segment_reduce_along(
        data, reduce=names.get(reduce, reduce), lengths=lengths, offsets=offsets, axis=axis, initial=initial
    )


def _check_lengths(lengths: Any, size: int) -> None:
    """Refuse negative lengths, and lengths whose sum is not the size."""
    if (lengths < 0).any():
        raise RuntimeError("lengths contains negative value!")
    if (lengths.sum(-1) != size).any():
        raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) "
                           "when !unsafe.")  # fmt: skip
