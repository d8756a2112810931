"""Images sampled at the points of a grid, also between pixels. Images and grid get gradients.

# Note [Two sums are enough]
The sample at a point is a sum of the pixels around it. The weights depend on the point: `_sample`. Its transpose,
`_adjoint`, sends gradients back to the pixels. The derivative with respect to the point uses derivatives of the weights:
`orders` says how often, per direction. So each derivative of the two sums is one of them again.
"""
# fmt: off

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.names import op_named, stack, sum_dim
from ..base.symbol import call
from ..op import Primitive, composite, primitive, public, row
from ..ops.layers.pooling import scattered
from ..ops.layers.windows import Ints, brief, volume
from ..tensor import Tensor, check_scalar_type, refuse_if

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
# the cubic curve with slope -0.75 at 1, as polynomials of the distance: up to 1, and from 1 to 2
_NEAR, _FAR = np.array([1.25, -2.25, 0, 1]), np.array([-0.75, 3.75, -6, 3])


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


def taps(grid: Any, size: Ints, mode: int, padding_mode: int, align_corners: bool, orders: Ints) -> Iterator[tuple[Any, Any]]:
    """For each pixel around a point: its flat index and its weight, for all points of the grid.

    Points (..., n) and `orders` (how often the weights are differentiated) begin with x; `size` ends with it.
    """
    n = len(size)
    directions = [_along(grid[..., n - 1 - d], size[d], mode, padding_mode, align_corners, orders[n - 1 - d]) for d in range(n)]
    for corner in itertools.product(*directions):
        number, weight = corner[0]
        for d in range(1, n):
            number, weight = number * size[d] + corner[d][0], weight * corner[d][1]
        yield number, weight


def _along(coordinate, length, mode, padding_mode, align_corners, order) -> list[tuple[Any, Any]]:
    """The pixels on both sides in one direction, each with its weight or the weight's derivative."""
    stretch = (length - 1) / 2 if align_corners else length / 2
    position = (coordinate + 1) * coordinate.dtype.type(stretch) - (0 if align_corners else 0.5)
    if mode == BICUBIC:
        return _cubic(position, stretch, length, padding_mode, align_corners, order)
    position, slope = _inside(position, length, padding_mode, align_corners)
    if mode == NEAREST:
        return [_kept(np.rint(position), np.full_like(position, order == 0), length)]
    before = np.floor(position)
    part = position - before
    if order == 0:
        weights = (1 - part, part)
    else:
        change = slope * part.dtype.type(stretch) * (order == 1)
        weights = (-change, change)
    return [_kept(before + k, w, length) for k, w in enumerate(weights)]


def _cubic(position, stretch, length, padding_mode, align_corners, order) -> list[tuple[Any, Any]]:
    """Four pixels with cubic weights. Each pixel outside the image is padded separately."""
    before = np.floor(position)
    part = position - before
    found = []
    for k in (-1, 0, 1, 2):
        curve = np.polyder(_NEAR if k in (0, 1) else _FAR, order)
        side = 1 if k <= 0 else -1
        weight = np.polyval(curve.astype(part.dtype), side * (part - k)) * part.dtype.type((side * stretch) ** order)
        pixel, _ = _inside(before + k, length, padding_mode, align_corners)
        found.append(_kept(pixel, weight, length))
    return found


def _kept(pixel: Any, weight: Any, length: int) -> tuple[Any, Any]:
    """The pixel's index, and its weight: 0 for a pixel outside the image."""
    inside = (pixel >= 0) & (pixel < length)
    return np.where(inside, pixel, 0).astype(np.int64), np.where(inside, weight, 0).astype(weight.dtype)


def _inside(position: Any, length: int, padding_mode: int, align_corners: bool) -> tuple[Any, Any]:
    """The position after padding, and its derivative: 1, -1, or 0 at the edge."""
    slope = np.ones_like(position)
    if padding_mode == ZEROS:
        return position, slope
    if padding_mode == REFLECTION:
        position, slope = _mirrored(position, *((0, length - 1) if align_corners else (-0.5, length - 0.5)))
    moves = (position > 0) & (position < length - 1)
    return np.clip(position, 0, length - 1), slope * moves


def _mirrored(position: Any, low: float, high: float) -> tuple[Any, Any]:
    """The position, reflected between two mirrors."""
    span = high - low
    if span == 0:
        return np.zeros_like(position), np.zeros_like(position)
    distance = np.abs(position - low)
    flips, rest = np.floor(distance / span), np.fmod(distance, span)
    sign = np.where(position < low, -1, 1)
    back = flips % 2 == 1
    where = np.where(back, span - rest, rest) + low
    return where.astype(position.dtype), np.where(back, -sign, sign).astype(position.dtype)


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
def grid_input_gradient(name, grad, input, grid, interpolation_mode, padding_mode, align_corners) -> Any:
    """The gradient of the images."""
    return op_named(name + "_backward")(
        grad, grid, size=tuple(input.shape[2:]), interpolation_mode=interpolation_mode, padding_mode=padding_mode,
        align_corners=align_corners, orders=(0,) * (input.ndim - 2),
    )  # fmt: skip


@composite(written=lambda name, grad, input, grid, *_: grad * call(f"{name}_slope", input, grid))
def grid_gradient(name, grad, input, grid, interpolation_mode, padding_mode, align_corners, orders) -> Any:
    """The gradient of the points: for each direction, the derivative of the sample times the gradient of the sample."""
    parts = []
    for d in range(len(orders)):
        slope = op_named(name + "_slope")(
            input, grid, interpolation_mode=interpolation_mode, padding_mode=padding_mode, align_corners=align_corners,
            orders=tuple(order + (k == d) for k, order in enumerate(orders)),
        )  # fmt: skip
        parts.append(sum_dim(grad * slope, dim=(1,)))
    return stack(parts, -1)


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

    Raises ValueError: an unknown mode. RuntimeError: the grid does not fit the images, or bicubic mode for volumes.
    """
    refuse_if(mode not in _MODES, lambda:
        f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'", ValueError)
    refuse_if(padding_mode not in _PADDINGS, lambda:
        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
        f"'{padding_mode}'", ValueError)
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
    refuse_if(grid.shape[-1] != input.ndim - 2, lambda:
        f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got grid with sizes "
        f"{list(grid.shape)}")
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

    Raises ValueError: the matrices do not fit the size. NotImplementedError: neither images nor volumes.
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
