"""The pixels around a point of the grid, and their weights."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.layers.windows import Ints

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
# the cubic curve with slope -0.75 at 1, as polynomials of the distance: up to 1, and from 1 to 2
_NEAR, _FAR = np.array([1.25, -2.25, 0, 1]), np.array([-0.75, 3.75, -6, 3])


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


def _along(
    coordinate: Any, length: int, mode: int, padding_mode: int, align_corners: bool, order: int
) -> list[tuple[Any, Any]]:
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


def _cubic(
    position: Any, stretch: float, length: int, padding_mode: int, align_corners: bool, order: int
) -> list[tuple[Any, Any]]:
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
