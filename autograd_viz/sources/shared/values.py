"""An array as far as a picture needs it."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...graph import model
from ...graph.model import Summary
from ...twin.core.tensor.former import Overwritten
from ...twin.core.tensor.printing import few_text, values_text
from ...twin.core.tensor.tensor import Tensor

SIDE = 8  # blocks of the thumbnail in each direction, at most


def summary_of(array: Any) -> Summary:
    """Extremes, mean, norm, counts and thumbnail of an array of at least one element, of any dtype and shape. Elements that are
    nan or infinite are counted and otherwise left out. In the thumbnail a block with nan is nan.
    """
    with np.errstate(all="ignore"):
        is_real = array.dtype.kind == "f" and array.itemsize >= 4  # else as numbers that can be summed: complex ones by size
        real = array if is_real else np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
        matrix = real.reshape(-1, array.shape[-1] if array.ndim else 1)
        flat = matrix.reshape(-1)
        squares = float(flat.dot(flat))
        if math.isfinite(squares) and (squares > 0 or not flat.any()):  # no nan, no inf, and no overflow or underflow
            return _finite(flat, matrix, math.sqrt(squares))
        return _any(flat, matrix)


def _finite(flat: Any, matrix: Any, norm: float) -> Summary:
    sums, sizes = _block_sums(matrix), _block_sizes(*matrix.shape)
    rows, columns = sums.shape
    means = tuple((sums.astype(np.float64) / sizes).reshape(-1).tolist())
    zeros = flat.size - int(np.count_nonzero(flat))
    mean = float(sums.sum(dtype=np.float64)) / flat.size
    return Summary(float(flat.min()), float(flat.max()), mean, norm, zeros, 0, 0, rows, columns, means)


def _any(flat: Any, matrix: Any) -> Summary:
    """The careful way: some elements are not finite, or the squares overflow or underflow."""
    finite = np.isfinite(matrix)
    kept = np.where(finite, matrix, 0).astype(np.float64)
    there = kept[finite]
    sums = _block_sums(matrix.astype(np.float64))
    thumbnail = tuple((sums / _block_sizes(*matrix.shape)).reshape(-1).tolist())
    least, most, mean = (float(f(there)) if there.size else math.nan for f in (np.min, np.max, np.mean))
    nans, zeros = int(np.count_nonzero(np.isnan(flat))), flat.size - int(np.count_nonzero(flat))
    largest = float(np.abs(there).max(initial=0.0))
    norm = largest * float(np.sqrt(np.square(there / largest).sum())) if largest else 0.0
    infs = flat.size - there.size - nans
    return Summary(least, most, mean, norm, zeros, nans, infs, len(sums), sums.shape[1], thumbnail)


def _block_sums(matrix: Any) -> Any:
    """The matrix divided into at most SIDE x SIDE blocks, and the sum of each."""
    rows, columns = matrix.shape
    if rows > SIDE:
        matrix = np.add.reduceat(matrix, _starts(rows), axis=0)
    return np.add.reduceat(matrix, _starts(columns), axis=1) if columns > SIDE else matrix


@functools.lru_cache(maxsize=256)
def _starts(length: int) -> Any:
    """Where SIDE parts of `length` elements begin; their sizes differ by one at most."""
    return np.arange(SIDE) * length // SIDE


@functools.lru_cache(maxsize=256)
def _block_sizes(*lengths: int) -> Any:
    sizes = (np.diff(_starts(n), append=n).astype(np.float64) if n > SIDE else np.ones(n) for n in lengths)
    return np.multiply.outer(*sizes)


FEW = 64  # arrays up to this size keep their numbers in the document

dtype_text = functools.cache(str)  # cached: NumPy makes "float64" anew each time


def value_of(array: Any, dtype: str = "") -> model.Value:
    """What a picture needs of a NumPy array; `dtype`: the name of its type, if it is not NumPy's."""
    if isinstance(array, Overwritten):
        return model.Value(tuple(array.shape), dtype_text(array._data.dtype), "overwritten")
    if isinstance(array, Tensor):
        array = array._data
    dtype = dtype or dtype_text(array.dtype)
    if array.size > FEW:
        return model.Value(tuple(array.shape), dtype, _ends(array), summary=summary_of(array))
    numbers = array.reshape(-1).tolist()
    if array.dtype.kind != "c" and numbers:
        return few_of(numbers, tuple(array.shape), dtype, array.dtype.kind == "f")
    return model.Value(tuple(array.shape), dtype, " ".join(values_text(array).split()), tuple(numbers))


def few_of(numbers: list[Any], shape: tuple[int, ...], dtype: str, is_float: bool) -> model.Value:
    """The same of a few real elements in row order, at least one."""
    return model.Value(shape, dtype, " ".join(few_text(numbers, shape, is_float).split()), tuple(numbers))


def _ends(array: Any) -> str:
    """``[[1.5000, ..., 0.2500]]``: only what is read is formatted."""
    ends = np.array([array.item(0), array.item(-1)], array.dtype)
    first, last = values_text(ends)[1:-1].split(",")
    return f"{'[' * array.ndim}{first.strip()}, ..., {last.strip()}{']' * array.ndim}"
