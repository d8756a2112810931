"""What a document's value says of an array: bounds, zeros, nan, norm."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

from ...graph.model import Number, Value
from ...graph.passes import HUGE, TINY
from ...graph.text import number_text, shape_text, value_text
from ..sentences import PROPERTIES

BAD = ("nan", "inf")


def bounds(value: Value | None) -> tuple[float, float] | None:
    """The least and the largest element; None if unknown, or if few elements include nan or inf."""
    if value is None:
        return None
    if value.summary is not None:
        return value.summary.least, value.summary.most
    finite = [float(n) for n in value.numbers if not isinstance(n, complex) and math.isfinite(n)]
    return (min(finite), max(finite)) if finite and len(finite) == len(value.numbers) else None


def is_known(value: Value | None) -> bool:
    """Are its elements known?"""
    return value is not None and (value.summary is not None or bool(value.numbers) or 0 in value.shape)


def is_constant(value: Value | None) -> bool:
    """Are all elements known to be equal?"""
    found = bounds(value)
    return found is not None and found[0] == found[1]


def is_zero(value: Value | None) -> bool:
    """Is every element known to be zero?"""
    return value is not None and PROPERTIES["zero"](value)


def all_are(value: Value | None, test: Callable[[float], bool]) -> bool:
    """Are there few elements, and does each pass the test?"""
    numbers = () if value is None else value.numbers
    return bool(numbers) and all(not isinstance(n, complex) and test(float(n)) for n in numbers)


def lies_outside(value: Value | None, least: float, most: float) -> bool:
    """Is every element outside the interval?"""
    found = bounds(value)
    return all_are(value, lambda n: not least < n < most) or (found is not None and (found[1] <= least or found[0] >= most))


def has_zero(value: Value | None) -> bool:
    """Is an element zero?"""
    return count_zeros(value) > 0


def count_zeros(value: Value | None) -> int:
    """How many elements are zero."""
    if value is None:
        return 0
    return value.summary.zeros if value.summary is not None else sum(1 for n in value.numbers if not n)


def value_with(value: Value | None, names: tuple[str, ...] = BAD) -> str:
    """What a value has of "nan" and "inf", nan first; "" if neither."""
    return "" if value is None else next((n for n in names if PROPERTIES[n](value)), "")


def norm(value: Value | None) -> float | None:
    """The Euclidean norm of the finite elements."""
    if value is None:
        return None
    if value.summary is not None:
        return value.summary.norm
    return math.sqrt(sum(abs(n) ** 2 for n in value.numbers if cmath.isfinite(n))) if value.numbers else None


def state_of(value: Value | None) -> str:
    """What a gradient contains: "none", "nan", "inf", "zero", "huge", "tiny"; "" for other numbers, or if that is not known."""
    size = norm(value)
    if value is None or value_with(value) or is_zero(value):
        return "none" if value is None else value_with(value) or "zero"
    return "" if size is None else "huge" if size >= HUGE else "tiny" if size <= TINY else ""


def largest(value: Value | None) -> float | None:
    """The largest absolute value of its elements."""
    found = bounds(value)
    return None if found is None else max(abs(found[0]), abs(found[1]))


def number(text: str) -> float | None:
    """The number in the text of a saved value or operand; None if it is no number."""
    try:
        return float(text)
    except ValueError:
        return None


def added(values: list[Value]) -> tuple[Number, ...] | None:
    """The elementwise sum of small arrays; None if they are not small."""
    if not values or any(not v.numbers or v.shape != values[0].shape for v in values):
        return None
    return tuple(sum(column) for column in zip(*(v.numbers for v in values), strict=True))


def nearly(a: tuple[Number, ...], b: tuple[Number, ...]) -> bool:
    """Are they equal up to rounding? nan equals nan."""
    scale = max([1e-30, *(abs(x) for x in (*a, *b) if cmath.isfinite(x))])
    return len(a) == len(b) and all(_close(x, y, scale) for x, y in zip(a, b, strict=True))


def _close(x: complex, y: complex, scale: float) -> bool:
    if not (cmath.isfinite(x) and cmath.isfinite(y)):
        return repr(x) == repr(y)
    return abs(x - y) <= 1e-5 * scale


def text_of(value: Value | None) -> str:
    """Its text; "" if it is not known."""
    return "" if value is None else value_text(value)


def range_text(found: tuple[float, float] | None) -> str:
    """`-3.0`; `-3.0 … -1.0`; "?" if unknown."""
    if found is None:
        return "?"
    low, high = map(number_text, found)
    return low if low == high else f"{low} … {high}"


def elements_text(value: Value) -> str:
    """The elements; for many, the shape and the range."""
    text, found = value_text(value), bounds(value)
    return text if text != shape_text(value.shape) or found is None else f"{text}: {range_text(found)}"
