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

import warnings
from typing import Any

import numpy as np

from ...base.names import conjugated, sum_dim
from ...base.symbol import call
from ...op import primitive
from ...tensor import Tensor, check_scalar_type, ints, refuse_if
from ..shape.shape import squeeze_dim, unsqueeze
from .padding import constant_pad_nd

from .windows import (  # isort: skip
    Ints, brief, functions, n_of, offsets, overlap_added, padded, places_of, volume, windows_along,
)


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


# -- the user's calls: arguments, checked and brought into the form of `convolution` ----------------------------------------


def _conv(n: int) -> Any:
    places = ("sequences", "images", "volumes")[n - 1]
    inside = ("length", "height, width", "depth, height, width")[n - 1]

    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Any:  # fmt: skip
        return _convolved(n, input, weight, bias, groups, stride=stride, dilation=dilation, padding=padding)

    conv.__doc__ = f"Convolve {places} (batch, in, {inside}) with kernels (out, in / groups{', k' * n})."
    return conv


def _conv_transpose(n: int) -> Any:
    def conv_transpose(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        """The transpose of conv{n}d: it maps small images to large ones."""
        options = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
        return _convolved(n, input, weight, bias, groups, transposed=True, **options)

    return conv_transpose


conv1d, conv2d, conv3d = functions(_conv, "nn.functional.conv{n}d", "torch.conv{n}d")
conv_transpose1d, conv_transpose2d, conv_transpose3d = functions(
    _conv_transpose, "nn.functional.conv_transpose{n}d", "torch.conv_transpose{n}d"
)


def _convolved(
    n: int, input: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool = False, **given: Any
) -> Any:
    """`convolution` of a batch or of one image, with padding as numbers or as a word."""
    if input.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{'_transpose' * transposed}{n}d, but got "
            f"input of size: {list(input.shape)}"
        )
    alone = input.ndim == n + 1
    batch = unsqueeze(input, dim=0) if alone else input
    options: dict[str, Any] = {"output_padding": (0,) * n}
    for name, value in given.items():
        if name == "padding" and isinstance(value, str) and not transposed:
            batch, options[name] = _padded_in_words(value, batch, weight, options["stride"], options["dilation"])
        else:
            options[name] = _each(n, name, value)
    _check(batch, weight, bias, groups=groups, transposed=transposed, **options)
    result = convolution(batch, weight, bias, groups=groups, transposed=transposed, **options)
    return squeeze_dim(result, dim=0) if alone else result


def _each(n: int, name: str, value: Any) -> Ints:
    """One value for each dimension."""
    values = ints(value)
    if len(values) not in (1, n):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the convolution dimensions, but "
            f"got {name}={list(values)}"
        )
    return n_of(values, n)


def _padded_in_words(words: str, batch: Tensor, weight: Tensor, stride: Ints, dilation: Ints) -> tuple[Tensor, Ints]:
    """Padding for "same" or "valid" as numbers. If "same" needs more at the end than at the start, the input is padded here."""
    n = len(stride)
    if words == "valid":
        return batch, (0,) * n
    refuse_if(words != "same", lambda: f"Invalid padding string: '{words}'")
    refuse_if(any(s != 1 for s in stride), "padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(t % 2 for t in totals):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
            "created",
            stacklevel=4,
        )
        batch = constant_pad_nd(batch, pad=tuple(v for t in reversed(totals) for v in (0, t % 2)), value=0)
    return batch, tuple(t // 2 for t in totals)


def _check(
    batch: Tensor, weight: Tensor, bias: Tensor | None, *, stride: Ints, padding: Ints, dilation: Ints, output_padding: Ints,
    groups: int, transposed: bool,
) -> None:  # fmt: skip
    """Refuse arguments that do not fit together."""
    if groups <= 0 or min(padding) < 0 or min(stride) <= 0:
        what = "non-positive groups" if groups <= 0 else "negative padding" if min(padding) < 0 else "non-positive stride"
        raise RuntimeError(f"{what} is not supported")
    refuse_if(min(dilation) <= 0, lambda: f"dilation should be greater than zero, but got {list(dilation)}")
    if weight.ndim != batch.ndim:
        _each(weight.ndim - 2, "stride", stride)
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but got "
            f"{batch.ndim}-dimensional input of size {list(batch.shape)} instead"
        )
    if bias is not None and bias.dtype is not batch.dtype:
        kinds = (batch.dtype.legacy.lower(), bias.dtype.legacy.lower())
        raise RuntimeError(f"Input type ({kinds[0]}) and bias type ({kinds[1]}) should be the same")
    check_scalar_type(weight, batch)
    _check_channels(batch, weight, bias, groups, transposed)
    room = [length + 2 * p for length, p in zip(batch.shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if not transposed and any(r > length for r, length in zip(reach, room, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, room))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    if transposed and any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        names = ("height", "width") if len(stride) < 3 else ("depth", "height", "width")
        parts = {"output_padding": output_padding, "stride": stride, "dilation": dilation}
        shown = [f"{what}_{name}: {v}" for what, values in parts.items() for name, v in zip(names, values, strict=False)]
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {' '.join(shown)}")


def _check_channels(batch: Tensor, weight: Tensor, bias: Tensor | None, groups: int, transposed: bool) -> None:
    sizes, channels = list(weight.shape), batch.shape[1]
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    if sizes[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{sizes}] instead"
        )
    wanted, made = (sizes[0], sizes[1] * groups) if transposed else (sizes[1] * groups, sizes[0])
    if channels != wanted:
        raise RuntimeError(
            f"{given}, weight of size {sizes}, expected input{list(batch.shape)} to have {wanted} channels, but got "
            f"{channels} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (made,):
        start = f"{given}, weight" if transposed else "Given weight"
        raise RuntimeError(
            f"{start} of size {sizes}, expected bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )
