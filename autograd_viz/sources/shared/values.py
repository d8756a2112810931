"""An array as far as a picture needs it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...graph import model
from ...twin.core.op.former import Overwritten
from ...twin.core.tensor.printing import values_text
from ...twin.core.tensor.tensor import Tensor
from .summary import summary_of

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
    text = " ".join(values_text(array).split())
    return model.Value(tuple(array.shape), dtype, text, tuple(array.reshape(-1).tolist()))


def _ends(array: Any) -> str:
    """``[[1.5000, ..., 0.2500]]``: only what is read is formatted."""
    ends = np.array([array.item(0), array.item(-1)], array.dtype)
    first, last = values_text(ends)[1:-1].split(",")
    return f"{'[' * array.ndim}{first.strip()}, ..., {last.strip()}{']' * array.ndim}"
