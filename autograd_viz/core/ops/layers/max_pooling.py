"""The largest element of each window, and where it was: that one alone gets the gradient."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from typing import Any

from ...base.symbol import call
from ...op.primitive import Primitive, primitive
from .planes import put, scattered
from .sized import op
from .window_search import adaptive_boxes, fractional_boxes, largest, largest_of_boxes

_BOTH: Any = {"results": ("result0", "result1")}


def _backward(n: int, name: str, node_name: str) -> None:
    """The gradient of one of these poolings: all work alike, under names of their own."""
    @op(n, node_name, name, written=lambda grad_output, self, indices: call("scatter", grad_output, indices))
    def backward(grad_output, self, *, indices):
        """Each gradient at the place of its window's largest element."""
        return scattered(grad_output, indices, self.shape[-n:])
    backward.defvjp(
        grad_output = lambda grad, indices: gather_in_planes(grad, indices=indices, n=n),
        self        = lambda grad: zeros_like(grad),
    )


def _sliding(n: int) -> Primitive:
    """max_pool2d or max_pool3d."""
    @op(n, "MaxPool{n}DWithIndicesBackward0", "max_pool{n}d_with_indices", **_BOTH)
    def forward(self, *, kernel_size, stride, padding, dilation, ceil_mode):
        """The largest in each window of {one}, and its place."""
        return largest(self, kernel_size, stride or kernel_size, padding, dilation, ceil_mode)
    forward.defvjp(
        self = lambda grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1:
            op_named(f"max_pool{n}d_backward")(grad, self, indices=result1),
    )
    _backward(n, "max_pool{n}d_backward", "MaxPool{n}DWithIndicesBackwardBackward0")
    return forward


def _adaptive(n: int) -> Primitive:
    """adaptive_max_pool2d or adaptive_max_pool3d."""
    @op(n, "AdaptiveMaxPool{n}DBackward0", "adaptive_max_pool{n}d_to", **_BOTH)
    def forward(self, *, output_size):
        """The largest in each of so many windows, and its place."""
        return largest_of_boxes(self, *adaptive_boxes(self.shape[-n:], output_size))
    forward.defvjp(
        self = lambda grad, self, result1: op_named(f"adaptive_max_pool{n}d_backward")(grad, self, indices=result1),
    )
    _backward(n, "adaptive_max_pool{n}d_backward", "AdaptiveMaxPool{n}DBackwardBackward0")
    return forward


def _fractional(n: int) -> Primitive:
    """fractional_max_pool2d or fractional_max_pool3d."""
    @op(n, "FractionalMaxPool{n}DBackward0", "fractional_max_pool{n}d_from", **_BOTH)
    def forward(self, *, kernel_size, output_size, random_samples):
        """The largest in each of so many windows, drawn to be of uneven distance."""
        return largest_of_boxes(self, *fractional_boxes(self.shape, kernel_size, output_size, random_samples))
    forward.defvjp(
        self = lambda grad, self, kernel_size, output_size, result1:
            op_named(f"fractional_max_pool{n}d_backward")(grad, self, indices=result1),
    )
    _backward(n, "fractional_max_pool{n}d_backward", "FractionalMaxPool{n}DBackwardBackward0")
    return forward


max_pool2d_with_indices, max_pool3d_with_indices = _sliding(2), _sliding(3)
adaptive_max_pool2d_to, adaptive_max_pool3d_to = _adaptive(2), _adaptive(3)
fractional_max_pool2d_from, fractional_max_pool3d_from = _fractional(2), _fractional(3)


@primitive("MaxUnpool2DBackward0")
def max_unpool2d_to(self, *, indices, output_size):
    """Each element back where it was the largest, zeros elsewhere."""
    return put(self, indices, output_size)
max_unpool2d_to.defvjp(
    self = lambda grad, indices: gather_in_planes(grad, indices=indices, n=2),
)


@primitive("MaxUnpool3DBackward0")
def max_unpool3d_to(self, *, indices, output_size, stride, padding):
    """Each element back where it was the largest, zeros elsewhere."""
    return put(self, indices, output_size)
max_unpool3d_to.defvjp(
    self = lambda grad, indices: gather_in_planes(grad, indices=indices, n=3),
)
