"""Images sampled at the points of a grid, also between pixels. Images and grid get gradients.

# Note [Two sums are enough]
The sample at a point is a sum of the pixels around it. The weights depend on the point: `_sample`. Its transpose,
`_adjoint`, sends gradients back to the pixels. The derivative with respect to the point uses derivatives of the weights:
`orders` says how often, per direction. So each derivative of the two sums is one of them again.
"""
# fmt: off

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..base.names import op_named, stack, sum_dim
from ..base.symbol import call
from ..op import Primitive, composite, inlined, primitive, public, row
from ..ops.layers.pooling import scattered
from ..ops.layers.windows import Ints, brief, volume
from ..tensor import Tensor, check_scalar_type, refuse_if
from .grid_weights import taps


def _declare(n: int) -> Primitive:
    """grid_sampler_2d or grid_sampler_3d, and the ops of its derivatives."""
    name, node_name, zeroth = f"grid_sampler_{n}d", f"GridSampler{n}D", (0,) * n
    slope, back, node_of_both = f"{name}_slope", f"{name}_backward", f"{node_name}BackwardBackward0"
    row(slope, node_of_both, "The derivatives of these orders with respect to the point.",
        lambda input, grid, *, interpolation_mode, padding_mode, align_corners, orders:
            _sample(input, grid, interpolation_mode, padding_mode, align_corners, orders), written=brief(slope, 2),
        input = lambda grad, input_sym_sizes, grid, interpolation_mode, padding_mode, align_corners, orders:
            op_named(back)(grad, grid, size=tuple(input_sym_sizes[2:]), interpolation_mode=interpolation_mode,
                           padding_mode=padding_mode, align_corners=align_corners, orders=orders),
        grid  = lambda grad, input, grid, interpolation_mode, padding_mode, align_corners, orders:
            grid_gradient(name, grad, input, grid, interpolation_mode, padding_mode, align_corners, orders))
    row(back, node_of_both, "The gradient of the images.",
        lambda grad_output, grid, *, size, interpolation_mode, padding_mode, align_corners, orders:
            _adjoint(grad_output, grid, size, interpolation_mode, padding_mode, align_corners, orders), written=brief(back, 2),
        grad_output = lambda grad, grid, interpolation_mode, padding_mode, align_corners, orders:
            op_named(slope)(grad, grid, interpolation_mode=interpolation_mode, padding_mode=padding_mode,
                            align_corners=align_corners, orders=orders),
        grid        = lambda grad, grad_output, grid, interpolation_mode, padding_mode, align_corners, orders:
            grid_gradient(name, grad_output, grad, grid, interpolation_mode, padding_mode, align_corners, orders))
    return row(name, f"{node_name}Backward0",
        "The images, sampled at the points of `grid`, whose coordinates run from -1 to 1.",
        lambda input, grid, *, interpolation_mode, padding_mode, align_corners:
            _sample(input, grid, interpolation_mode, padding_mode, align_corners, zeroth),
        input = lambda grad, input, grid, interpolation_mode, padding_mode, align_corners:
            grid_input_gradient(name, grad, input, grid, interpolation_mode, padding_mode, align_corners),
        grid  = lambda grad, input, grid, interpolation_mode, padding_mode, align_corners:
            grid_gradient(name, grad, input, grid, interpolation_mode, padding_mode, align_corners, zeroth))


@primitive("AffineGridGeneratorBackward0")
def affine_grid_generator(theta, *, size, align_corners):
    """The points of a regular grid, transformed by the matrices `theta`."""
    base = regular_grid(size[2:], align_corners, theta.dtype)
    return (base @ theta.swapaxes(1, 2)).reshape(theta.shape[0], *size[2:], len(size) - 2)
affine_grid_generator.defvjp(
    theta = lambda grad, size, align_corners: affine_grid_generator_backward(grad, size=size, align_corners=align_corners))


@primitive("AffineGridGeneratorBackwardBackward0")
def affine_grid_generator_backward(grad, *, size, align_corners):
    """The gradient of the matrices: each point's gradient times its coordinates in the regular grid."""
    base = regular_grid(size[2:], align_corners, grad.dtype)
    return grad.reshape(grad.shape[0], volume(size[2:]), len(size) - 2).swapaxes(1, 2) @ base
affine_grid_generator_backward.defvjp(
    grad = lambda grad, size, align_corners: affine_grid_generator(grad, size=size, align_corners=align_corners))


# fmt: on
def _sample(input: Any, grid: Any, mode: int, padding_mode: int, align_corners: bool, orders: Ints) -> Any:
    """The weighted sum of the pixels around each point of the grid, in each channel."""
    images, channels, *size = input.shape
    flat, places = input.reshape(images, channels, -1), grid.shape[1:-1]
    out = np.zeros((images, channels, volume(places)), input.dtype)
    for number, weight in taps(grid, tuple(size), mode, padding_mode, align_corners, orders):
        out += np.take_along_axis(flat, number.reshape(images, 1, -1), 2) * weight.reshape(images, 1, -1)
    return out.reshape(images, channels, *places)


def _adjoint(grad: Any, grid: Any, size: Ints, mode: int, padding_mode: int, align_corners: bool, orders: Ints) -> Any:
    """The transpose of `_sample`: each pixel sums the gradients of all points that used it."""
    images, channels = grad.shape[:2]
    flat = grad.reshape(images, channels, -1)
    out = np.zeros((images, channels, *size), grad.dtype)
    for number, weight in taps(grid, size, mode, padding_mode, align_corners, orders):
        numbers = np.broadcast_to(number.reshape(images, 1, -1), flat.shape)
        out += scattered(flat * weight.reshape(images, 1, -1), numbers, (volume(size),)).reshape(out.shape)
    return out


@composite(written=lambda name, grad, input, grid, *_: call(f"{name}_backward", grad, grid))
def grid_input_gradient(
    name: str, grad: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """The gradient of the images."""
    return op_named(name + "_backward")(
        grad, grid, size=tuple(input.shape[2:]), interpolation_mode=interpolation_mode, padding_mode=padding_mode,
        align_corners=align_corners, orders=(0,) * (input.ndim - 2),
    )  # fmt: skip


@composite(written=lambda name, grad, input, grid, *_: grad * call(f"{name}_slope", input, grid))
def grid_gradient(
    name: str, grad: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool, orders: Ints
) -> Any:
    """The gradient of the points: for each direction, the derivative of the sample times the gradient of the sample."""
    parts = []
    for d in range(len(orders)):
        slope = op_named(name + "_slope")(
            input, grid, interpolation_mode=interpolation_mode, padding_mode=padding_mode, align_corners=align_corners,
            orders=once_more(orders, d),
        )  # fmt: skip
        parts.append(sum_dim(grad * slope, dim=(1,)))
    return stack(parts, -1)


@inlined
def once_more(orders: Ints, direction: int) -> Ints:
    """One more derivative in one direction."""
    return tuple(order + (d == direction) for d, order in enumerate(orders))


def regular_grid(size: Ints, align_corners: bool, dtype: Any) -> Any:
    """Points (x, y, ..., 1) that cover [-1, 1] evenly: from end to end, or at the centres of equal parts."""
    lines = []
    for length in size:
        line = np.linspace(-1, 1, length) if length > 1 else np.zeros(length)
        lines.append((line if align_corners else line * (length - 1) / length).astype(dtype))
    every = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*(e.ravel() for e in every), np.ones(volume(size), dtype)], -1)


GRID_SAMPLER = {n: _declare(n) for n in (2, 3)}


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@public("nn.functional.grid_sample")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """Each image of a batch, sampled at the points of a grid. Coordinates run from -1 to 1.

    Raises:
        ValueError: an unknown mode.
        RuntimeError: the grid does not fit the images, or bicubic mode for volumes.
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
            stacklevel=2,
        )
    _check(input, grid)
    refuse_if(mode == "bicubic" and input.ndim != 4, "grid_sampler(): bicubic interpolation only supports 4D input")
    sampler = GRID_SAMPLER[input.ndim - 2]
    return sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode), bool(align_corners))


def _check(input: Tensor, grid: Tensor) -> None:
    """Refuse a grid that does not fit the images."""
    sizes = f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {sizes}")
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but {sizes}")
    for d, length in enumerate(input.shape[2:], start=2):
        if length == 0:
            raise RuntimeError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(input.shape)} "
                f"with dimension {d} being empty"
            )
    check_scalar_type(grid, input)


@public("nn.functional.affine_grid")
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Any:
    """The grid for the affine transformation of an image by the matrices `theta`.

    Raises:
        ValueError: the matrices do not fit the size.
        NotImplementedError: neither images nor volumes.
    """
    size = tuple(int(s) for s in size)
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    n = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (n, n + 1):
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}.")
    refuse_if(min(size) <= 0, lambda: f"Expected non-zero, positive output size. Got {size}", ValueError)
    return affine_grid_generator(theta, size=size, align_corners=bool(align_corners))
