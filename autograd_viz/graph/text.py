"""Values as text in sentences and formulas: numbers as Python writes them, in six digits."""

from __future__ import annotations

import math

from .model import Number, Value

MOST_NAMES = 12  # in a row


def number_text(number: Number) -> str:
    """4.0, -0.5, 123457, 1e-08, 1+2j."""
    if isinstance(number, bool | int):
        return str(number)
    if isinstance(number, complex):
        return f"{number:.6g}"
    if math.isfinite(number) and abs(number) < 1e6 and number == int(number):
        return f"{number:.1f}"
    return f"{number:.6g}"


def few_names(names: list[str], between: str = ", ") -> str:
    """Names in a row; of very many the first and the last."""
    return between.join(names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], "…", names[-1]])


def shape_text(shape: tuple[int, ...]) -> str:
    """`shape (28, 28)`: cannot be mistaken for values."""
    return f"shape {shape}"


def nested(words: list[str], shape: tuple[int, ...]) -> str:
    """Words in row order as nested brackets."""
    if not shape:
        return words[0]
    size = math.prod(shape[1:])
    return "[" + ", ".join(nested(words[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])) + "]"


def value_text(value: Value, most: int = 40) -> str:
    """The values if they take at most `most` characters, else the shape."""
    text = nested([number_text(n) for n in value.numbers], value.shape) if value.numbers else ""
    return text if text and len(text) <= most else shape_text(value.shape)
