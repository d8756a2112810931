"""The mean of each window: every element of it gets its share of the gradient."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from typing import Any

import numpy as np

from ...op.primitive import primitive
from .separable import along_each, shares, transposed
from .windows import Ints, brief, offsets, overlap_added, padded, seen_at, window_count


@primitive("AvgPool2DBackward0", written=brief("avg_pool2d"))
def avg_pool2d_windows(self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """The mean of each window of an image."""
    return mean_of_windows(self, kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad, divisor_override)
avg_pool2d_windows.defvjp(
    self = lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
        avg_pool2d_backward(grad, self, kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
                            count_include_pad=count_include_pad, divisor_override=divisor_override),
)


@primitive("AvgPool2DBackwardBackward0", written=brief("avg_pool2d_backward", 1))
def avg_pool2d_backward(grad_output, self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """Each gradient shared out evenly over its window."""
    return shared_out(grad_output, self.shape[-2:], kernel_size, stride or kernel_size, padding, count_include_pad,
                      divisor_override)
avg_pool2d_backward.defvjp(
    grad_output = lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
        avg_pool2d_windows(grad, kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
                           count_include_pad=count_include_pad, divisor_override=divisor_override),
    self        = lambda grad: zeros_like(grad),
)


@primitive("AvgPool3DBackward0", written=brief("avg_pool3d"))
def avg_pool3d_windows(self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """The mean of each window of a volume."""
    return mean_of_windows(self, kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad, divisor_override)
avg_pool3d_windows.defvjp(
    self = lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
        avg_pool3d_backward(grad, self, kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
                            count_include_pad=count_include_pad, divisor_override=divisor_override),
)


@primitive("AvgPool3DBackwardBackward0", written=brief("avg_pool3d_backward", 1))
def avg_pool3d_backward(grad_output, self, *, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """Each gradient shared out evenly over its window."""
    return shared_out(grad_output, self.shape[-3:], kernel_size, stride or kernel_size, padding, count_include_pad,
                      divisor_override)
avg_pool3d_backward.defvjp(
    grad_output = lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
        avg_pool3d_windows(grad, kernel_size=kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode,
                           count_include_pad=count_include_pad, divisor_override=divisor_override),
    self        = lambda grad: zeros_like(grad),
)


@primitive("AdaptiveAvgPool2DBackward0", written=brief("adaptive_avg_pool2d"))
def adaptive_avg_pool2d_to(self, *, output_size):
    """The mean of each of so many windows."""
    return along_each(self, shares(self.shape[-2:], output_size))
adaptive_avg_pool2d_to.defvjp(
    self = lambda grad, self: adaptive_avg_pool2d_backward(grad, self),
)


@primitive("AdaptiveAvgPool2DBackwardBackward0", written=brief("adaptive_avg_pool2d_backward", 1))
def adaptive_avg_pool2d_backward(grad_output, self):
    """Each gradient shared out evenly over its window."""
    return along_each(grad_output, transposed(shares(self.shape[-2:], grad_output.shape[-2:]), self.shape[-2:]))
adaptive_avg_pool2d_backward.defvjp(
    grad_output = lambda grad, grad_output_sym_argsize_minus_2, grad_output_sym_argsize_minus_1:
        adaptive_avg_pool2d_to(grad, output_size=(grad_output_sym_argsize_minus_2, grad_output_sym_argsize_minus_1)),
    self        = lambda grad: zeros_like(grad),
)


@primitive("AdaptiveAvgPool3DBackward0", written=brief("adaptive_avg_pool3d"))
def adaptive_avg_pool3d_to(self, *, output_size):
    """The mean of each of so many windows."""
    return along_each(self, shares(self.shape[-3:], output_size))
adaptive_avg_pool3d_to.defvjp(
    self = lambda grad, self: adaptive_avg_pool3d_backward(grad, self),
)


@primitive("AdaptiveAvgPool3DBackwardBackward0", written=brief("adaptive_avg_pool3d_backward", 1))
def adaptive_avg_pool3d_backward(grad_output, self):
    """Each gradient shared out evenly over its window."""
    return along_each(grad_output, transposed(shares(self.shape[-3:], grad_output.shape[-3:]), self.shape[-3:]))
adaptive_avg_pool3d_backward.defvjp(
    grad_output = lambda grad, grad_output_sym_argsize_minus_3, grad_output_sym_argsize_minus_2,
                         grad_output_sym_argsize_minus_1:
        adaptive_avg_pool3d_to(grad, output_size=(grad_output_sym_argsize_minus_3, grad_output_sym_argsize_minus_2,
                                                  grad_output_sym_argsize_minus_1)),
    self        = lambda grad: zeros_like(grad),
)


# fmt: on
def mean_of_windows(
    x: Any, kernel: Ints, stride: Ints, padding: Ints, ceil_mode: bool, count_include_pad: bool, divisor: int | None
) -> Any:
    """The sum of each window over its divisor."""
    n = len(kernel)
    size = x.shape[-n:]
    places = tuple(
        window_count(length, k, s, p, ceil_mode=ceil_mode)
        for length, k, s, p in zip(size, kernel, stride, padding, strict=True)
    )
    reach = (s * (p - 1) + k for s, p, k in zip(stride, places, kernel, strict=True))
    around = padded(x, padding, tuple(max(r - p - m, 0) for r, p, m in zip(reach, padding, size, strict=True)))
    total = np.zeros((*x.shape[:-n], *places), x.dtype)
    for offset in offsets(kernel):
        total += around[seen_at(offset, places, stride, (1,) * n)]
    counts = divisors(places, size, kernel, stride, padding, count_include_pad, divisor).astype(x.dtype)
    return total // counts if x.dtype.kind in "iu" else total / counts


def shared_out(
    grad: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool, divisor: int | None
) -> Any:
    """The transpose of `mean_of_windows`."""
    n = len(kernel)
    places = grad.shape[-n:]
    share = grad / divisors(places, size, kernel, stride, padding, count_include_pad, divisor).astype(grad.dtype)
    lead = share.shape[:-n]
    parts = np.broadcast_to(share.reshape(*lead, *(1,) * n, *places), (*lead, *kernel, *places))
    return overlap_added(parts, size, stride, padding, (1,) * n)


def divisors(
    places: Ints, size: Ints, kernel: Ints, stride: Ints, padding: Ints, count_include_pad: bool, divisor: int | None
) -> Any:
    """By what each window's sum is divided: the elements in it, those of the padding included or not, or one number."""
    if divisor is not None:
        return np.asarray(divisor)
    counts: Any = np.ones(())
    for p, length, k, s, pad in zip(places, size, kernel, stride, padding, strict=True):
        start = np.arange(p) * s - pad
        end = np.minimum(start + k, length + pad)
        along = end - start if count_include_pad else np.minimum(end, length) - np.maximum(start, 0)
        counts = np.expand_dims(counts, -1) * along
    return counts
