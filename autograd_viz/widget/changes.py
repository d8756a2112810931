"""What the page can do to a gradient, as what `edit` takes: a value, or a function of the gradient."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import words

MOST_LEAVES = 12  # lines of an effect
NOISE_SEED = 0  # the preview and the edit add the same noise


def change_of(how: str, text: str) -> Any:
    """A change that a person has typed.

    Args:
        how: "value", "scale", "zero", "clip", "element" or "noise".
        text: a number or a nested list; a factor; a norm; "0, 1 = 2.5"; a standard deviation.

    Raises:
        ValueError: the text cannot be read so.
    """
    if how not in CHANGES:
        raise ValueError(how)
    try:
        return CHANGES[how](text)
    except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
        raise ValueError(f"{text!r:.40}") from None


def _value(text: str) -> Any:
    return _numbers(ast.literal_eval(text.strip().replace("nan", "'nan'").replace("inf", "'inf'")))


def _numbers(value: Any) -> Any:
    """A literal in which the words "nan" and "inf" are numbers."""
    if isinstance(value, list | tuple):
        return [_numbers(v) for v in value]
    return value if isinstance(value, complex) else float(value)


def _number(text: str) -> float | complex:
    value = _value(text)
    if not isinstance(value, float | complex):
        raise TypeError
    return value


def _size(text: str) -> float:
    """A norm or a deviation."""
    value = _number(text)
    if isinstance(value, complex) or not value >= 0:
        raise ValueError
    return value


def _scale(text: str) -> Callable[[Any], Any]:
    factor = _number(text)
    return lambda gradient: gradient * factor


def _clip(text: str) -> Callable[[Any], Any]:
    most = _size(text)

    def clipped(gradient: Any) -> Any:
        norm = float(gradient.norm())
        return gradient * (most / norm) if norm > most else gradient

    return clipped


def _element(text: str) -> Callable[[Any], Any]:
    place, _, value = text.rpartition("=")
    index, number = ast.literal_eval(f"({place.strip(' []')},)") if place.strip(" []") else (), _number(value)
    if not all(isinstance(i, int) for i in index):
        raise TypeError

    def changed(gradient: Any) -> Any:
        if len(index) != gradient.dim():
            raise ValueError(f"an element of shape {list(gradient.shape)} has {gradient.dim()} indices, got {len(index)}")
        gradient[index] = number
        return gradient

    return changed


def _noise(text: str) -> Callable[[Any], Any]:
    deviation = _size(text)

    def noisy(gradient: Any) -> Any:
        noise = np.random.default_rng(NOISE_SEED).normal(0, deviation, tuple(gradient.shape))
        return gradient + gradient.new_tensor(noise.tolist())

    return noisy


CHANGES: dict[str, Callable[[str], Any]] = {
    "value": _value,
    "scale": _scale,
    "zero": lambda text: 0.0,
    "clip": _clip,
    "element": _element,
    "noise": _noise,
}


def effect_of(preview: Callable[[Any, int], Mapping[str, tuple[str, str]]], how: str, text: str, index: int) -> dict[str, Any]:
    """What a change would do, as the page shows it: the rows that it changes, or why it cannot be made."""
    try:
        found = preview(change_of(how, text), index)
    except Exception as error:
        return {"error": words.ui()["edit_error"].format(error=error)}
    changed = [(name, *grads) for name, grads in found.items() if grads[0] != grads[1]][:MOST_LEAVES]
    return {"rows": changed, "more": len(found) - len(changed)}
