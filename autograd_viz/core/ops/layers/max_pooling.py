"""The largest element of each window, and where it was: that one alone gets the gradient."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from ...base.symbol import call
from ...op.primitive import Primitive, primitive
from .planes import put, scattered
from .window_search import adaptive_boxes, fractional_boxes, largest, largest_of_boxes


@primitive("MaxPool2DWithIndicesBackward0", results=("result0", "result1"))
def max_pool2d_with_indices(self, *, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest in each window of an image, and its place."""
    return largest(self, kernel_size, stride or kernel_size, padding, dilation, ceil_mode)
max_pool2d_with_indices.defvjp(
    self = lambda grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1:
        max_pool2d_backward(grad, self, indices=result1),
)


@primitive("MaxPool3DWithIndicesBackward0", results=("result0", "result1"))
def max_pool3d_with_indices(self, *, kernel_size, stride, padding, dilation, ceil_mode):
    """The largest in each window of a volume, and its place."""
    return largest(self, kernel_size, stride or kernel_size, padding, dilation, ceil_mode)
max_pool3d_with_indices.defvjp(
    self = lambda grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1:
        max_pool3d_backward(grad, self, indices=result1),
)


@primitive("AdaptiveMaxPool2DBackward0", results=("result0", "result1"))
def adaptive_max_pool2d_to(self, *, output_size):
    """The largest in each of so many windows, and its place."""
    return largest_of_boxes(self, *adaptive_boxes(self.shape[-2:], output_size))
adaptive_max_pool2d_to.defvjp(
    self = lambda grad, self, result1: adaptive_max_pool2d_backward(grad, self, indices=result1),
)


@primitive("AdaptiveMaxPool3DBackward0", results=("result0", "result1"))
def adaptive_max_pool3d_to(self, *, output_size):
    """The largest in each of so many windows, and its place."""
    return largest_of_boxes(self, *adaptive_boxes(self.shape[-3:], output_size))
adaptive_max_pool3d_to.defvjp(
    self = lambda grad, self, result1: adaptive_max_pool3d_backward(grad, self, indices=result1),
)


@primitive("FractionalMaxPool2DBackward0", results=("result0", "result1"))
def fractional_max_pool2d_from(self, *, kernel_size, output_size, random_samples):
    """The largest in each of so many windows, drawn to be of uneven distance."""
    return largest_of_boxes(self, *fractional_boxes(self.shape, kernel_size, output_size, random_samples))
fractional_max_pool2d_from.defvjp(
    self = lambda grad, self, kernel_size, output_size, result1:
        fractional_max_pool2d_backward(grad, self, indices=result1),
)


@primitive("FractionalMaxPool3DBackward0", results=("result0", "result1"))
def fractional_max_pool3d_from(self, *, kernel_size, output_size, random_samples):
    """The largest in each of so many windows, drawn to be of uneven distance."""
    return largest_of_boxes(self, *fractional_boxes(self.shape, kernel_size, output_size, random_samples))
fractional_max_pool3d_from.defvjp(
    self = lambda grad, self, kernel_size, output_size, result1:
        fractional_max_pool3d_backward(grad, self, indices=result1),
)


def _backward(name: str, node_name: str, n: int) -> Primitive:
    """The gradient of one of these poolings: all work alike, under names of their own."""
    def backward(grad_output, self, *, indices):
        return scattered(grad_output, indices, self.shape[-n:])
    backward.__name__, backward.__doc__ = name, "Each gradient at the place of its window's largest element."
    declared = primitive(node_name, written=lambda grad_output, self, indices: call("scatter", grad_output, indices))(backward)
    declared.defvjp(
        grad_output = lambda grad, indices: gather_in_planes(grad, indices=indices, n=n),
        self        = lambda grad: zeros_like(grad),
    )
    return declared


max_pool2d_backward            = _backward("max_pool2d_backward", "MaxPool2DWithIndicesBackwardBackward0", 2)
max_pool3d_backward            = _backward("max_pool3d_backward", "MaxPool3DWithIndicesBackwardBackward0", 3)
adaptive_max_pool2d_backward   = _backward("adaptive_max_pool2d_backward", "AdaptiveMaxPool2DBackwardBackward0", 2)
adaptive_max_pool3d_backward   = _backward("adaptive_max_pool3d_backward", "AdaptiveMaxPool3DBackwardBackward0", 3)
fractional_max_pool2d_backward = _backward("fractional_max_pool2d_backward", "FractionalMaxPool2DBackwardBackward0", 2)
fractional_max_pool3d_backward = _backward("fractional_max_pool3d_backward", "FractionalMaxPool3DBackwardBackward0", 3)


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
