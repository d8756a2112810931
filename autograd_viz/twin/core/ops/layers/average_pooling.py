"""Average pooling: the mean of each window. Each element of a window gets an equal share of the gradient."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import op_named, zeros_like
from ...op.primitive import Primitive
from .sized import along_each, asking, op, same, shares, transposed
from .windows import Ints, brief, offsets, overlap_added, padded, places_of, seen_at

_OPTIONS = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")


def _sliding(n: int) -> Primitive:
    """avg_pool2d or avg_pool3d, and its gradient."""
    @op(n, "AvgPool{n}DBackward0", "avg_pool{n}d_windows", written=brief(f"avg_pool{n}d"))
    def forward(self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        """The mean of each window of {one}."""
        step, one, size = stride or kernel_size, (1,) * n, self.shape[-n:]
        places = places_of(size, kernel_size, step, padding, one, ceil_mode)
        reach = (s * (p - 1) + k for s, p, k in zip(step, places, kernel_size, strict=True))
        around = padded(self, padding, tuple(max(r - p - m, 0) for r, p, m in zip(reach, padding, size, strict=True)))
        total = np.zeros((*self.shape[:-n], *places), self.dtype)
        for offset in offsets(kernel_size):
            total += around[seen_at(offset, places, step, one)]
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
        self        = lambda grad: zeros_like(grad),
    )
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
        grad_output = asking(lambda grad, *size: op_named(pool)(grad, output_size=size), "grad", *lengths),
        self        = lambda grad: zeros_like(grad),
    )
    return forward


AVG_POOL, ADAPTIVE_AVG_POOL = {n: _sliding(n) for n in (2, 3)}, {n: _adaptive(n) for n in (2, 3)}


# fmt: on
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
