"""The strong Wolfe conditions: how far along a direction the loss falls enough and its slope has flattened enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.tensor.as_array import Array

ENOUGH, FLAT = 1e-4, 0.9  # of the first slope: the least mean descent, and the steepest slope at the end


class Trial(NamedTuple):
    """A point of the line.

    Attributes:
        t: how far along the direction.
        loss: there.
        grad: there, as one vector.
        slope: of the loss along the direction.
    """

    t: float
    loss: float
    grad: Array
    slope: float


@np.errstate(all="ignore")
def lowest(a: Trial, b: Trial, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through both points, with their slopes, is lowest within `bounds` (by default between them)."""
    if a.t > b.t:
        a, b = b, a
    least, most = bounds or (a.t, b.t)
    mean = a.slope + b.slope - np.float64(3 * (a.loss - b.loss)) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    root = np.sqrt(square)
    place = b.t - (b.t - a.t) * ((b.slope + root - mean) / (b.slope - a.slope + 2 * root))
    return float(min(max(place, least), most))


def strong_wolfe(
    attempt: Callable[[float], Trial], begin: Trial, t: float, largest: float, tolerance: float, most: int
) -> Trial:
    """The point to move to.

    Args:
        attempt: evaluates the loss at a distance.
        begin: the present point.
        t: the first distance to try.
        largest: the largest element of the direction.
        tolerance: of the change of an element; a closer search is not worth it.
        most: attempts.
    """
    before, new = begin, attempt(t)
    for n in range(most):
        if new.loss > begin.loss + ENOUGH * new.t * begin.slope or (n > 1 and new.loss >= before.loss):
            return _zoomed(attempt, begin, [before, new], largest, tolerance, most - n)
        if abs(new.slope) <= -FLAT * begin.slope:
            return new
        if new.slope >= 0:
            return _zoomed(attempt, begin, [before, new], largest, tolerance, most - n)
        t = lowest(before, new, (new.t + 0.01 * (new.t - before.t), new.t * 10))
        before, new = new, attempt(t)
    return begin if begin.loss <= new.loss else new


def _zoomed(
    attempt: Callable[[float], Trial], begin: Trial, ends: list[Trial], largest: float, tolerance: float, most: int
) -> Trial:
    """Narrow the interval between two ends until a point in it satisfies the conditions."""
    low, high = sorted(ends, key=lambda end: end.loss)
    is_stuck = False
    for _ in range(most):
        left, right = min(low.t, high.t), max(low.t, high.t)
        if (right - left) * largest < tolerance:
            break
        t, edge = lowest(low, high), 0.1 * (right - left)
        if min(right - t, t - left) < edge:
            if is_stuck or t >= right or t <= left:
                t = right - edge if abs(t - right) < abs(t - left) else left + edge
                is_stuck = False
            else:
                is_stuck = True
        else:
            is_stuck = False
        new = attempt(t)
        if new.loss > begin.loss + ENOUGH * t * begin.slope or new.loss >= low.loss:
            low, high = sorted((low, new), key=lambda end: end.loss)
            continue
        if abs(new.slope) <= -FLAT * begin.slope:
            return new
        if new.slope * (high.t - low.t) >= 0:
            high = low
        low = new
    return low
