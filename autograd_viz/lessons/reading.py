"""What a reader writes into a row: None, a number, or nested lists of numbers."""

from __future__ import annotations

import ast
import cmath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..graph.model import Value

Number = int | float
_TENSOR = re.compile(r"^tensor\((.*)\)$", re.DOTALL)
_LONGEST = 2000  # characters
_CLOSE = 2e-3  # relative; a reader may round as PyTorch prints


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers in row-major order and their shape; `numbers` is None for the word None."""

    shape: tuple[int, ...] = ()
    numbers: tuple[Number, ...] | None = None


def read(text: str) -> Reading | None:
    """The value that the text means, or None if it is unclear.

    >>> read("tensor([1., 2.])")
    Reading(shape=(2,), numbers=(1.0, 2.0))
    >>> read(" none ")
    Reading(shape=(), numbers=None)
    """
    text = text.strip()[:_LONGEST]
    if text.lower() == "none":
        return Reading()
    text = (_TENSOR.match(text) or [text, text])[1]
    try:
        found = ast.literal_eval(re.sub(r"[+-]?\b(nan|inf)\b", r"'\g<0>'", text))
        shape = _shape(found)
        return Reading(shape, tuple(map(float, _flat(found))))
    except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
        return None


def _shape(nested: Any) -> tuple[int, ...]:
    """The shape of nested lists. Ragged lists raise ValueError."""
    if not isinstance(nested, list | tuple):
        return ()
    shapes = {_shape(part) for part in nested}
    if len(shapes) != 1:
        raise ValueError("ragged")
    return (len(nested), *shapes.pop())


def _flat(nested: Any) -> Iterator[Any]:
    if isinstance(nested, list | tuple):
        for part in nested:
            yield from _flat(part)
    else:
        yield nested


def agrees(reading: Reading, value: Value | None) -> bool:
    """Does the reading agree with the value? Rounded numbers agree, and nan agrees with nan."""
    if value is None or reading.numbers is None:
        return value is None and reading.numbers is None
    return reading.shape == value.shape and all(map(_close, reading.numbers, value.numbers))


def _close(a: complex, b: complex) -> bool:
    return (cmath.isnan(a) and cmath.isnan(b)) or cmath.isclose(a, b, rel_tol=_CLOSE, abs_tol=5e-5)
