"""A gradient that the user has typed or computed, as the engine wants it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor


def as_gradient(value: Any, shape: tuple[int, ...], dtype: Any, as_tensor: bool) -> Any:
    """A number (which fills the shape), a nested list, an array or a tensor as a gradient of this shape and type.

    Raises:
        ValueError: it has another shape, or is not numeric.
    """
    try:
        array = np.array(value._data if isinstance(value, Tensor) else value)
        given = array.shape
        array = np.full(shape, array, dtype) if not given else array.astype(dtype)
    except (TypeError, ValueError):
        raise ValueError(
            f"a gradient is a number or a nested list of numbers of shape {list(shape)}, got {value!r:.60}"
        ) from None
    if array.shape != shape:
        raise ValueError(f"the gradient has shape {list(given)}; this output of the op has shape {list(shape)}")
    return Tensor(array) if as_tensor else array
