"""Max pooling: the largest element of each window gets the whole gradient. Average pooling: each gets an equal share."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...base.names import op_named, zeros_like
from ...base.symbol import call
from ...op import Primitive, primitive, row

from .windows import (  # isort: skip
    Ints, adaptive_boxes, along_each, brief, every_look, offsets, op, overlap_added, padded, places_of, same,
    shares, transposed, volume, with_signature,
)


def _declare(
    n: int, pool: str, name: str, node_name: str, does: str, forward: Callable[..., Any], *options: str
) -> Primitive:
    """Declare a pooling and its gradient, which the indices determine. PyTorch's node has the `options` too."""
    forward.__doc__ = does
    declared = op(n, f"{node_name}Backward0", name, results=("result0", "result1"))(forward)
    back = f"{pool.format(n=n)}_backward"
    declared.defvjp(self = with_signature(lambda grad, self, result1, *_: op_named(back)(grad, self, indices=result1),
                                  "grad", "self", "result1", *options))
    def backward(grad_output, self, *, indices):
        """Each gradient at the index of its window's largest element."""
        return scattered(grad_output, indices, self.shape[-n:])
    shown = {"written": lambda grad_output, self, indices: call("scatter", grad_output, indices)}
    op(n, f"{node_name}BackwardBackward0", back, **shown)(backward).defvjp(
        grad_output = lambda grad, indices: gather_in_planes(grad, indices=indices, n=n),
        self        = lambda grad: zeros_like(grad))
    return declared


MAX_POOL = {
    n: _declare(n, "max_pool{n}d", "max_pool{n}d_with_indices", "MaxPool{n}DWithIndices",
        "The largest element of each window of {one}, and its index.",
        lambda self, *, kernel_size, stride, padding, dilation, ceil_mode:
            largest(self, kernel_size, stride or kernel_size, padding, dilation, ceil_mode),
        "kernel_size", "stride", "padding", "dilation", "ceil_mode")
    for n in (2, 3)
}
ADAPTIVE_MAX_POOL = {
    n: _declare(n, "adaptive_max_pool{n}d", "adaptive_max_pool{n}d_to", "AdaptiveMaxPool{n}D",
        "The largest element of each window, and its index; `output_size` gives the number of windows.",
        lambda self, *, output_size: largest_of_boxes(self, *adaptive_boxes(self.shape[-len(output_size):], output_size)))
    for n in (2, 3)
}


max_unpool2d_to = row("max_unpool2d_to", "MaxUnpool2DBackward0", "Each element at its index, zeros elsewhere.",
    lambda self, *, indices, output_size: put(self, indices, output_size),
    self = lambda grad, indices: gather_in_planes(grad, indices=indices, n=2))
max_unpool3d_to = row("max_unpool3d_to", "MaxUnpool3DBackward0", "Each element at its index, zeros elsewhere.",
    lambda self, *, indices, output_size, stride, padding: put(self, indices, output_size),
    self = lambda grad, indices: gather_in_planes(grad, indices=indices, n=3))


@primitive("GatherBackward0", written=lambda self, indices, n: call("gather", self, indices))
def gather_in_planes(self, *, indices, n):
    """The elements at these flat indices, in each plane."""
    flat = self.reshape(*self.shape[:-n], -1)
    return np.take_along_axis(flat, indices.reshape(*flat.shape[:-1], -1), -1).reshape(indices.shape)
gather_in_planes.defvjp(self = lambda grad, self_sym_sizes, indices, n:
    scatter_in_planes(grad, indices=indices, size=tuple(self_sym_sizes[-n:])))


scatter_in_planes = row("scatter_in_planes", "ScatterAddBackward0",
    "Planes of zeros of shape `size`, with each element added at its index.",
    lambda grad_output, *, indices, size: scattered(grad_output, indices, size),
    written=lambda grad_output, indices, size: call("scatter", grad_output, indices),
    grad_output = lambda grad, indices, size: gather_in_planes(grad, indices=indices, n=len(size)))


_OPTIONS = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")


def _sliding(n: int) -> Primitive:
    """avg_pool2d or avg_pool3d, and its gradient."""
    @op(n, "AvgPool{n}DBackward0", "avg_pool{n}d_windows", written=brief(f"avg_pool{n}d"))
    def forward(self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        """The mean of each window of {one}."""
        step, one, size = stride or kernel_size, (1,) * n, self.shape[-n:]
        places = places_of(size, kernel_size, step, padding, one, ceil_mode)
        around = reached(self, places, kernel_size, step, padding, one)
        total = np.zeros((*self.shape[:-n], *places), self.dtype)
        for at in every_look(kernel_size, places, step, one):
            total += around[at]
        counts = divisors(places, size, kernel_size, step, padding, count_include_pad, divisor_override).astype(self.dtype)
        return total // counts if self.dtype.kind in "iu" else total / counts

    @op(n, "AvgPool{n}DBackwardBackward0", "avg_pool{n}d_backward", written=brief(f"avg_pool{n}d_backward", 1))
    def backward(grad_output, self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        """Each gradient, divided evenly over its window."""
        step, size, places = stride or kernel_size, self.shape[-n:], grad_output.shape[-n:]
        counts = divisors(places, size, kernel_size, step, padding, count_include_pad, divisor_override)
        share = grad_output / counts.astype(grad_output.dtype)
        lead = share.shape[:-n]
        parts = np.broadcast_to(share.reshape(*lead, *(1,) * n, *places), (*lead, *kernel_size, *places))
        return overlap_added(parts, size, step, padding, (1,) * n)

    forward.defvjp(self = same(backward.name, "self", options=_OPTIONS))
    backward.defvjp(
        grad_output = same(forward.name, options=_OPTIONS),
        self        = lambda grad: zeros_like(grad))
    return forward


def _adaptive(n: int) -> Primitive:
    """adaptive_avg_pool2d or adaptive_avg_pool3d, and its gradient."""
    pool, back = f"adaptive_avg_pool{n}d_to", f"adaptive_avg_pool{n}d_backward"
    @op(n, "AdaptiveAvgPool{n}DBackward0", pool, written=brief(f"adaptive_avg_pool{n}d"))
    def forward(self, *, output_size):
        """The mean of each window; `output_size` gives the number of windows."""
        return along_each(self, shares(self.shape[-n:], output_size))

    @op(n, "AdaptiveAvgPool{n}DBackwardBackward0", back, written=brief(back, 1))
    def backward(grad_output, self):
        """Each gradient, divided evenly over its window."""
        return along_each(grad_output, transposed(shares(self.shape[-n:], grad_output.shape[-n:]), self.shape[-n:]))

    lengths = (f"grad_output_sym_argsize_minus_{d}" for d in range(n, 0, -1))
    forward.defvjp(self = same(back, "self"))
    backward.defvjp(
        grad_output = with_signature(lambda grad, *size: op_named(pool)(grad, output_size=size), "grad", *lengths),
        self        = lambda grad: zeros_like(grad))
    return forward


AVG_POOL, ADAPTIVE_AVG_POOL = {n: _sliding(n) for n in (2, 3)}, {n: _adaptive(n) for n in (2, 3)}


# fmt: on
def largest(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> tuple[Any, Any]:
    """The largest element in each window, and its flat index in the plane. Of equal ones the first counts, of nans the last."""
    n = len(kernel)
    size = x.shape[-n:]
    places = places_of(size, kernel, stride, padding, dilation, ceil_mode)
    around = reached(x, places, kernel, stride, padding, dilation, -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    best: Any = None
    for step, at in enumerate(every_look(kernel, places, stride, dilation)):
        seen = around[at].copy()  # a contiguous copy makes the comparisons faster
        if best is None:
            best, which = seen, np.zeros(seen.shape, np.min_scalar_type(volume(kernel)))
            continue
        better = (seen > best) | (seen != seen)
        np.maximum(which, better * which.dtype.type(step), out=which)  # the steps only grow, so no element needs a branch
        np.maximum(best, seen, out=best)
    first = _numbers(places, stride, padding, size)
    inside = _numbers(kernel, dilation, (0,) * n, size).ravel()
    where = inside.take(which)  # three times as fast as inside[which]
    where += first
    return best, where if around is x else np.clip(where, 0, volume(size) - 1)


def reached(x: Any, places: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, value: Any = 0) -> Any:
    """`x` with `value` around it, as far as the windows reach. x itself if they stay inside."""
    ends = (s * (p - 1) + d * (k - 1) + 1 for s, p, d, k in zip(stride, places, dilation, kernel, strict=True))
    size = x.shape[-len(kernel) :]
    return padded(x, padding, tuple(max(e - p - length, 0) for e, p, length in zip(ends, padding, size, strict=True)), value)


@lru_cache(maxsize=64)  # the same for every batch
def _numbers(counts: Ints, steps: Ints, before: Ints, size: Ints) -> Any:
    """The flat indices of a grid: `counts` positions in each dimension, `steps` apart, from minus `before` on."""
    number: Any = np.zeros((), np.int64)
    for count, step, b, length in zip(counts, steps, before, size, strict=True):
        number = np.expand_dims(number, -1) * length + (np.arange(count) * step - b)
    number.flags.writeable = False
    return number


def largest_of_boxes(x: Any, starts: list[Any], ends: list[Any]) -> tuple[Any, Any]:
    """The largest element in each box and its flat index. starts[d] is (places,)."""
    n = len(starts)
    lead, size = x.shape[:-n], x.shape[-n:]
    places = tuple(s.shape[-1] for s in starts)
    flat = x.reshape(*lead, volume(size))
    best: Any = None
    for offset in offsets(tuple(int((e - s).max(initial=1)) for s, e in zip(starts, ends, strict=True))):
        number: Any = 0
        for d in range(n):  # a smaller box reads its last element again
            along = np.minimum(starts[d] + offset[d], ends[d] - 1)
            number = number * size[d] + along.reshape(*(1,) * d, places[d], *(1,) * (n - 1 - d))
        number = np.broadcast_to(number, (*lead, *places))
        seen = np.take_along_axis(flat, number.reshape(*lead, volume(places)), -1).reshape(*lead, *places)
        if best is None:
            best, where = seen, number.copy()
            continue
        better = (seen > best) | (seen != seen)
        best, where = np.where(better, seen, best), np.where(better, number, where)
    return best, where


def scattered(values: Any, indices: Any, size: Ints) -> Any:
    """Each value, added at its index in planes of zeros."""
    lead, elements = values.shape[: values.ndim - len(size)], volume(size)
    out = np.zeros(volume(lead) * elements, values.dtype)
    if values.size:
        starts = np.arange(volume(lead)).reshape(-1, 1) * elements
        np.add.at(out, (indices.reshape(volume(lead), -1) + starts).ravel(), values.ravel())
    return out.reshape(*lead, *size)


def put(values: Any, indices: Any, size: Ints) -> Any:
    """Each value, written at its index in planes of zeros. Of several at one index, the last stays."""
    lead = values.shape[: values.ndim - len(size)]
    out = np.zeros((*lead, volume(size)), values.dtype)
    np.put_along_axis(out, indices.reshape(*lead, -1), values.reshape(*lead, -1), -1)
    return out.reshape(*lead, *size)


def divisors(
    places: Ints, size: Ints, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool, divisor: int | None
) -> Any:
    """The divisor of each window's sum: its number of elements, with or without padding, or one given number."""
    if divisor is not None:
        return np.asarray(divisor)
    counts: Any = np.ones(())
    for p, length, k, s, pad in zip(places, size, kernel, stride, padding, strict=True):
        start = np.arange(p) * s - pad
        end = np.minimum(start + k, length + pad)
        along = end - start if count_include_pad else np.minimum(end, length) - np.maximum(start, 0)
        counts = np.expand_dims(counts, -1) * along
    return counts
