"""Convolution: weighted sums of windows of an image. The one primitive `convolution` serves all numbers of dimensions.

# Note [Three faces of one sum]
T(g, x, w) is the sum of gradient g times input x times weight w, over all outputs and their windows. T is linear in each of
the three. With two of them fixed, it gives the derivative with respect to the third:
- `_look` from x and w: the convolution itself;
- `_spread` from g and w: the gradient of x;
- `_match` from g and x: the gradient of w.
A transposed convolution has `_spread` as its forward. Second derivatives are the same three functions again.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated, sum_dim
from ...base.symbol import call
from ...op import primitive
from .windows import Ints, brief, offsets, overlap_added, padded, places_of, volume, windows_along


@primitive("ConvolutionBackward0", written=brief("convolution", 2))
def convolution(input, weight, bias=None, *, stride, padding, dilation, transposed, output_padding, groups):
    """Convolve the images `input` with the kernels `weight`, and add a bias per channel."""
    if transposed:
        each = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding, strict=True)
        size = tuple((length - 1) * s - 2 * p + d * (k - 1) + o + 1 for length, k, s, p, d, o in each)
        out = _spread(input, weight, size, stride, padding, dilation, groups)  # of `size`, a convolution would make `input`
    else:
        out = _look(input, weight, stride, padding, dilation, groups)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(stride))
    return out
convolution.defvjp(
    input  = lambda grad, input, weight, stride, padding, dilation, transposed, output_padding, groups:
        convolution_backward_input(grad, input, conjugated(weight), stride=stride, padding=padding, dilation=dilation,
                                   transposed=transposed, output_padding=output_padding, groups=groups),
    weight = lambda grad, input, weight, stride, padding, dilation, transposed, output_padding, groups:
        convolution_backward_weight(grad, conjugated(input), weight, stride=stride, padding=padding, dilation=dilation,
                                    transposed=transposed, output_padding=output_padding, groups=groups),
    bias   = lambda grad, bias_sym_sizes_opt, stride: sum_dim(grad, dim=(0, *range(2, 2 + len(stride)))))


@primitive("ConvolutionBackwardBackward0", written=lambda grad_output, input, weight, *, transposed, **_:
    call("convolution" if transposed else "conv_transpose", grad_output, weight))
def convolution_backward_input(grad_output, input, weight, *, stride, padding, dilation, transposed, output_padding, groups):
    """The gradient of the images: each output's gradient goes back to the elements of its window."""
    if transposed:
        return _look(grad_output, weight, stride, padding, dilation, groups, input.shape[2:])
    return _spread(grad_output, weight, input.shape[2:], stride, padding, dilation, groups)
convolution_backward_input.defvjp(
    grad_output = lambda grad, weight, stride, padding, dilation, transposed, output_padding, groups:
        convolution(grad, conjugated(weight), None, stride=stride, padding=padding, dilation=dilation,
                    transposed=transposed, output_padding=output_padding, groups=groups),
    weight      = lambda grad, grad_output, weight, stride, padding, dilation, transposed, output_padding, groups:
        convolution_backward_weight(conjugated(grad_output), grad, weight, stride=stride, padding=padding, dilation=dilation,
                                    transposed=transposed, output_padding=output_padding, groups=groups))


@primitive("ConvolutionBackwardBackward0", written=brief("convolution_backward_weight", 2))
def convolution_backward_weight(grad_output, input, weight, *, stride, padding, dilation, transposed, output_padding, groups):
    """The gradient of the kernels: the products of the output's gradient and the windows, summed over all positions."""
    seen, at = (grad_output, input) if transposed else (input, grad_output)
    return _match(at, seen, weight.shape, stride, padding, dilation, groups)
convolution_backward_weight.defvjp(
    grad_output = lambda grad, input, stride, padding, dilation, transposed, output_padding, groups:
        convolution(conjugated(input), grad, None, stride=stride, padding=padding, dilation=dilation,
                    transposed=transposed, output_padding=output_padding, groups=groups),
    input       = lambda grad, grad_output, input, stride, padding, dilation, transposed, output_padding, groups:
        convolution_backward_input(conjugated(grad_output), input, grad, stride=stride, padding=padding, dilation=dilation,
                                   transposed=transposed, output_padding=output_padding, groups=groups))


# fmt: on
def _look(x: Any, weight: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int, places: Ints | None = None) -> Any:
    """The convolution: one matrix product (kernels) x (windows) per image and group."""
    columns, places = _columns(x, weight.shape[2:], stride, padding, dilation, groups, places)
    kernels = weight.reshape(groups, weight.shape[0] // groups, volume(weight.shape[1:]))
    return (kernels @ columns).reshape(x.shape[0], weight.shape[0], *places)


def _spread(g: Any, weight: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of `_look`: each window's value is added back to its elements, in images of `size`."""
    if set(stride) == {1}:
        return _spread_in_planes(g, weight, size, padding, dilation, groups)
    kernels = weight.reshape(groups, weight.shape[0] // groups, volume(weight.shape[1:]))
    at = g.reshape(g.shape[0], groups, g.shape[1] // groups, volume(g.shape[2:]))
    parts = kernels.transpose(0, 2, 1) @ at
    parts = parts.reshape(g.shape[0], groups * weight.shape[1], *weight.shape[2:], *g.shape[2:])
    return overlap_added(parts, size, stride, padding, dilation)


def _spread_in_planes(g: Any, weight: Any, size: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """`_spread` for stride 1: each position in the kernel shifts a whole plane by a fixed distance."""
    images, channels, kernel = g.shape[0], weight.shape[1], weight.shape[2:]
    each = zip(size, padding, g.shape[2:], dilation, kernel, strict=True)
    room = tuple(max(length + 2 * p, places + d * (k - 1)) for length, p, places, d, k in each)
    planes: Any = np.zeros((g.shape[1], images, *room), g.dtype)
    planes[(..., *map(slice, g.shape[2:]))] = g.swapaxes(0, 1)
    made = weight.shape[0] // groups
    kernels = weight.reshape(groups, made, channels, volume(kernel)).transpose(0, 3, 2, 1)
    parts = kernels.reshape(groups, volume(kernel) * channels, made) @ planes.reshape(groups, made, images * volume(room))
    parts = parts.reshape(groups, volume(kernel), channels * images * volume(room))
    out: Any = np.zeros((groups, parts.shape[-1]), parts.dtype)
    for position, offset in enumerate(offsets(kernel)):
        shift = sum(o * d * volume(room[i + 1 :]) for i, (o, d) in enumerate(zip(offset, dilation, strict=True)))
        out[:, shift:] += parts[:, position, : parts.shape[-1] - shift]  # the part that sticks out is zeros
    inside = (..., *(slice(p, p + length) for p, length in zip(padding, size, strict=True)))
    return out.reshape(groups * channels, images, *room)[inside].swapaxes(0, 1).copy()


def _match(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The gradient of a kernel: the products of gradient and window, summed over all positions and images."""
    columns, _ = _columns(x, shape[2:], stride, padding, dilation, groups, g.shape[2:])
    at = g.reshape(g.shape[0], groups, g.shape[1] // groups, volume(g.shape[2:]))
    return (columns @ at.swapaxes(-1, -2)).sum(0).swapaxes(-1, -2).reshape(shape)  # tall times narrow: faster in BLAS


def _columns(
    x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int, places: Ints | None
) -> tuple[Any, Ints]:
    """The windows as columns (of the first `places`): (image, group, channel and position in the window, place)."""
    images, channels = x.shape[:2]
    if places is None:
        places = places_of(x.shape[2:], kernel, stride, padding, dilation)
    seen = padded(x, padding, padding)
    for d in reversed(range(len(kernel))):
        seen = windows_along(d - len(kernel), seen, kernel[d], stride[d], dilation[d], places[d])
        if d and kernel[d] > 1:  # a copy here makes memory contiguous for the next dimension
            seen = seen.copy()
    return seen.reshape(images, groups, channels // groups * volume(kernel), volume(places)), places
