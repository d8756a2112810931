"""How far two arrays are apart, and whether that is more than rounding explains."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...graph.model import Value

Elements = NDArray[Any] | Value
# rtol and atol by dtype, those of torch.testing.assert_close
TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


class Tolerance(NamedTuple):
    """What is rounding: ``|a - b| <= atol + rtol * |b|``. None: by dtype, the looser of two."""

    rtol: float | None = None
    atol: float | None = None

    def of(self, *dtypes: str) -> tuple[float, float]:
        """rtol and atol for arrays of these dtypes."""
        found = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        rtol = max(r for r, _ in found) if self.rtol is None else self.rtol
        return rtol, max(a for _, a in found) if self.atol is None else self.atol


class Gap(NamedTuple):
    """The distance of two arrays."""

    # the norm of a - b, divided by the larger norm of both; inf where only one of them is finite; nan for other shapes
    relative: float
    largest: float  # the largest ``|a - b|`` of an element
    is_beyond: bool  # some element is farther apart than the tolerance
    is_same: bool  # all numbers are the same; nan equals nan
    # all elements were compared. Else only what a document tells of large arrays: the gap is at least this.
    is_told: bool = True
    shapes: tuple[tuple[int, ...], ...] = ()  # where they are not the same
    only: int = -1  # the side that has a gradient which the other has not; -1: both have it


def missing(side: int) -> Gap:
    """The gap of a gradient that only one side has."""
    return Gap(math.inf, math.inf, True, False, only=side)


def gap_of(a: Elements, b: Elements, dtypes: tuple[str, str], tolerance: Tolerance) -> Gap | None:
    """The gap between two arrays; None if the elements of one are not known."""
    if tuple(a.shape) != tuple(b.shape):
        return Gap(math.nan, math.nan, True, False, True, (tuple(a.shape), tuple(b.shape)))
    rtol, atol = tolerance.of(*dtypes)
    if isinstance(a, Value) and isinstance(b, Value):
        return _of_values(a, b, rtol, atol)
    if isinstance(a, Value) or isinstance(b, Value):
        return None
    return _of_arrays(a, b, rtol, atol)


def _of_arrays(a: NDArray[Any], b: NDArray[Any], rtol: float, atol: float) -> Gap:
    wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    a, b = a.astype(wide, copy=False).reshape(-1), b.astype(wide, copy=False).reshape(-1)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return Gap(0.0, 0.0, False, True)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
        apart[same] = 0.0
        apart[np.isnan(apart)] = math.inf
        is_beyond = bool((apart > atol + rtol * np.abs(b)).any())
        finite = np.isfinite(b) & np.isfinite(a)
        size = max(float(np.linalg.norm(x[finite])) for x in (a, b))
        distance = float(np.linalg.norm(apart)) if np.isfinite(apart).all() else math.inf
    return Gap(_ratio(distance, size), float(apart.max()), is_beyond, False)


def _of_values(a: Value, b: Value, rtol: float, atol: float) -> Gap | None:
    if a.summary is None or b.summary is None:
        known = len(a.numbers) == len(b.numbers) == math.prod(a.shape)
        return _of_arrays(np.array(a.numbers), np.array(b.numbers), rtol, atol) if known else None
    x, y = a.summary, b.summary
    count = math.prod(a.shape)
    told = [(x.least, y.least), (x.most, y.most), (x.mean, y.mean), *zip(x.thumbnail, y.thumbnail, strict=False)]
    gap = _of_arrays(np.array([u for u, _ in told]), np.array([v for _, v in told]), rtol, atol)
    is_same = gap.is_same and (x.norm, x.zeros, x.nans, x.infs) == (y.norm, y.zeros, y.nans, y.infs)
    blocks = np.nan_to_num(np.array([x.thumbnail, y.thumbnail]) if len(x.thumbnail) == len(y.thumbnail) else np.zeros((2, 1)))
    means = float(np.linalg.norm(blocks[0] - blocks[1])) * math.sqrt(count / blocks.shape[1])
    relative = _ratio(max(abs(x.norm - y.norm), means), max(x.norm, y.norm))
    relative = relative if (x.nans, x.infs) == (y.nans, y.infs) else math.inf
    is_beyond = gap.is_beyond or relative > rtol + atol
    return Gap(relative, gap.largest, is_beyond and not is_same, is_same, False)


def _ratio(distance: float, size: float) -> float:
    return distance / size if size > 0 else math.inf if distance else 0.0
