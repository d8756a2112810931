"""A Python number as an operand, and written into an array, where it must fit the element type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .as_array import Array
from .tensor import Tensor


class Number(Tensor):
    """A Python number, `value`, as an operand: a 0-d tensor that stays weak in type promotion."""

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
        return np.array(self.value, np.int64 if type(self.value) is int else None)


_C_NAMES = {
    "float16": "c10::Half", "float32": "float", "float64": "double", "int64": "int64_t", "int32": "int", "int16": "int16_t",
    "int8": "int8_t", "uint8": "uint8_t", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def fitted(value: Any, kind: np.dtype[Any]) -> Array:
    """A number as a 0-d array of an element type, which it must fit; inf and nan need a float type. Fractions are dropped."""
    number = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if kind.kind == "b":
        return np.asarray(bool(number))
    if not _fits(number, kind):
        raise RuntimeError(f"value cannot be converted to type {_C_NAMES.get(kind.name, kind.name)} without overflow")
    if kind.kind == "u":
        return np.asarray(int(number) % (int(np.iinfo(kind).max) + 1), kind)  # -1 is the largest unsigned number, as in C
    if isinstance(number, complex) and kind.kind != "c":
        number = number.real
    return np.asarray(int(number) if kind.kind == "i" else number, kind)


def _fits(number: complex, kind: np.dtype[Any]) -> bool:
    if isinstance(number, complex):
        if kind.kind == "c":
            return _fits(number.real, kind) and _fits(number.imag, kind)
        return number.imag == 0 and _fits(number.real, kind)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        least = -int(limits.max) if kind.kind == "u" else int(limits.min)
        return math.isfinite(number) and least <= int(number) <= int(limits.max)
    return not math.isfinite(number) or abs(number) <= float(np.finfo(kind).max)
