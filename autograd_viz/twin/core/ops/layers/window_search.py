"""The largest element of each window: of sliding windows, or of boxes at any position."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .windows import Ints, every_look, offsets, padded, places_of, volume


def largest(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> tuple[Any, Any]:
    """The largest element in each window, and its flat index in the plane. Of equal ones the first counts, of nans the last."""
    n = len(kernel)
    size = x.shape[-n:]
    places = places_of(size, kernel, stride, padding, dilation, ceil_mode)
    reach = (s * (p - 1) + d * (k - 1) + 1 for s, p, d, k in zip(stride, places, dilation, kernel, strict=True))
    after = tuple(max(r - p - length, 0) for r, p, length in zip(reach, padding, size, strict=True))
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    around = padded(x, padding, after, lowest)
    best: Any = None
    for step, at in enumerate(every_look(kernel, places, stride, dilation)):
        seen = around[at].copy()  # a contiguous copy makes the comparisons faster
        if best is None:
            best, which = seen, np.zeros(seen.shape, np.min_scalar_type(volume(kernel)))
            continue
        better = (seen > best) | (seen != seen)
        np.maximum(which, better * which.dtype.type(step), out=which)  # the steps only grow, so no element needs a branch
        np.maximum(best, seen, out=best)
    first = _numbers(places, stride, padding, size)
    inside = _numbers(kernel, dilation, (0,) * n, size).ravel()
    where = inside.take(which)  # three times as fast as inside[which]
    where += first
    return best, where if around is x else np.clip(where, 0, volume(size) - 1)


@lru_cache(maxsize=64)  # the same for every batch
def _numbers(counts: Ints, steps: Ints, before: Ints, size: Ints) -> Any:
    """The flat indices of a grid: `counts` positions in each dimension, `steps` apart, from minus `before` on."""
    number: Any = np.zeros((), np.int64)
    for count, step, b, length in zip(counts, steps, before, size, strict=True):
        number = np.expand_dims(number, -1) * length + (np.arange(count) * step - b)
    number.flags.writeable = False
    return number


def adaptive_boxes(size: Ints, output_size: Ints) -> tuple[list[Any], list[Any]]:
    """Start and end of the windows of adaptive pooling, in each dimension. They divide the length evenly."""
    starts = [np.arange(out) * length // out for length, out in zip(size, output_size, strict=True)]
    ends = [-(-(np.arange(out) + 1) * length // out) for length, out in zip(size, output_size, strict=True)]
    return starts, ends


def largest_of_boxes(x: Any, starts: list[Any], ends: list[Any]) -> tuple[Any, Any]:
    """The largest element in each box and its flat index. starts[d] is (places,)."""
    n = len(starts)
    lead, size = x.shape[:-n], x.shape[-n:]
    places = tuple(s.shape[-1] for s in starts)
    flat = x.reshape(*lead, volume(size))
    best: Any = None
    for offset in offsets(tuple(int((e - s).max(initial=1)) for s, e in zip(starts, ends, strict=True))):
        number: Any = 0
        for d in range(n):  # a smaller box reads its last element again
            along = np.minimum(starts[d] + offset[d], ends[d] - 1)
            number = number * size[d] + along.reshape(*(1,) * d, places[d], *(1,) * (n - 1 - d))
        number = np.broadcast_to(number, (*lead, *places))
        seen = np.take_along_axis(flat, number.reshape(*lead, volume(places)), -1).reshape(*lead, *places)
        if best is None:
            best, where = seen, number.copy()
            continue
        better = (seen > best) | (seen != seen)
        best, where = np.where(better, seen, best), np.where(better, number, where)
    return best, where
