"""A gradient that the user typed or computed, in the form that the engine needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....twin.core.tensor.as_array import Array
from ....twin.core.tensor.tensor import Tensor


def as_gradient(value: Any, shape: tuple[int, ...], dtype: Any, as_tensor: bool) -> Any:
    """A number (which fills the shape), a nested list, an array or a tensor as a gradient of this shape and type.
    ValueError: its shape differs, or it is not numeric.
    """
    try:
        given = numbers_of(value, is_complex=np.dtype(dtype).kind == "c")
    except (TypeError, ValueError, OverflowError):
        raise refusal(value, shape, dtype) from None
    check_shape(given.shape, shape)
    with np.errstate(over="ignore"):  # a number that is too large becomes inf, as in PyTorch
        array = np.full(shape, given, dtype)
    return Tensor(array) if as_tensor else array


def numbers_of(value: Any, is_complex: bool) -> Array:
    """What the user typed, as an array. TypeError, ValueError, OverflowError: it is not numeric, or complex for a real one."""
    array = np.array(getattr(value, "detach", lambda: value)())
    if array.dtype.kind == "O" and all(isinstance(number, int) for number in array.flat):
        array = array.astype(np.float64)  # whole numbers of more than 64 bits
    if array.dtype.kind not in ("biufc" if is_complex else "biuf"):
        raise TypeError
    return array


def check_shape(given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Refuse a gradient that is neither one number nor of the wanted shape."""
    if given and tuple(given) != wanted:
        raise ValueError(f"the gradient has shape {list(given)}; this output of the op has shape {list(wanted)}")


def refusal(value: Any, shape: tuple[int, ...], dtype: Any) -> ValueError:
    """The error for a value that is no gradient of this shape and type."""
    try:
        got = f"{value!r:.60}"
    except ValueError:  # Python does not print an integer of more than 4,300 digits
        got = type(value).__name__
    return ValueError(f"expected a number or a nested list of numbers of shape {list(shape)} and {dtype}, got {got}")
