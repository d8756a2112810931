"""A Python number as an operand."""

from __future__ import annotations

from typing import Any

import numpy as np

from .as_array import Array
from .tensor import Tensor


class Number(Tensor):
    """A Python number as an operand: a 0-d tensor that stays weak in type promotion.

    Attributes:
        value: the number itself.
    """

    __slots__ = ("value",)
    __hash__ = object.__hash__
    _is_number = True
    # the same for every number; only the value is stored
    _grad = _node = _counter = _view = _made_by = _extra = None
    _requires_grad = False
    _output_nr = 0

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def _data(self) -> Array:  # type: ignore[override]
        kind = type(self.value)
        return np.array(self.value, np.int64) if kind is int else np.array(self.value)
