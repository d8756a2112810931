"""What a caller gives, as the core wants it: numbers as operands, nested lists as arrays, a dim that exists."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import dtype, float64, from_numpy_dtype, get_default_dtype
from .tensor import Array, Tensor


def as_operand(value: Any, op: str, position: int) -> Tensor:
    """A Python number (or NumPy array) as an operand; a number stays weak in type promotion.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(value, bool | int | float | np.number | np.bool_):
        kind = (
            np.bool_
            if isinstance(value, bool | np.bool_)
            else np.int64
            if isinstance(value, int | np.integer)
            else float64.numpy
        )
        number = Tensor(np.array(value, dtype=kind))
        number._is_number = True
        return number
    if isinstance(value, np.ndarray):
        return Tensor(value)
    name = "input" if position == 0 else "other"
    raise TypeError(f"{op}(): argument '{name}' (position {position + 1}) must be Tensor, not {type(value).__name__}")


def check_dim(dim: int, ndim: int) -> int:
    """`dim` as given, if a tensor of `ndim` dimensions has it (a 0-d tensor lets 0 and -1 pass).

    Raises:
        IndexError: in PyTorch's words.
    """
    most = max(ndim, 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    return dim


def default_array(values: Any, wanted: dtype | None) -> Array:
    """Nested numbers as a fresh array: Python floats in the default type, arrays and tensors in their own."""
    if isinstance(values, Tensor):
        values = values._data
    array = np.array(values)
    if wanted is not None:
        return array.astype(wanted.numpy)
    if array.dtype == np.float64 and not isinstance(values, np.ndarray | np.number):
        return array.astype(get_default_dtype().numpy)
    from_numpy_dtype(array.dtype)
    return array
