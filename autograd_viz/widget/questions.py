"""What a page asks of the kernel: moves, edits, groups to open; and the changes of a gradient that a person can type."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from .. import words
from ..runtime.interrupts import alone

MOST_PRINTED = 4_000  # letters: only the last are kept
CHANGE = {"index": int, "how": str, "text": str}
# by kind, its fields; others are no questions, as the "nudge" that makes an answer come sooner (kernel.js)
FIELDS: dict[str, dict[str, type]] = {
    **{kind: {} for kind in ("run", "map", "into", "undo_edit", "frames")},
    **{kind: {"id": str} for kind in ("expand", "collapse", "figure", "leave")},
    "goto": {"step": int},
    "run_to": {"node": str},
    "until": {"tensor": str},
    "edit": CHANGE,
    "effect": {**CHANGE, "soft": bool},
}


class Questions:
    """Answers them. The page is told of errors; raised, they would be lost.

    `answers`: by kind; each takes the fields in their order. `answered`: how many.
    """

    def __init__(self, answers: Mapping[str, Callable[..., object]]) -> None:
        self._answers = answers
        self.answered = 0

    def ask(self, content: Any) -> str | None:
        """Gives what user code has printed; None if no move was asked for. Of several at once the last answers."""
        asked = self.answered
        with alone(), redirect_stdout(io.StringIO()) as printed:
            match content:
                case {"kind": "all", "questions": [*first, content]}:
                    for question in first:
                        self._answer(question)
            self.answered += _is_question(content) and content["kind"] != "frames"
            self._answer(content)
        return printed.getvalue()[-MOST_PRINTED:] if self.answered != asked else None

    def _answer(self, content: Any) -> None:
        if _is_question(content):
            with contextlib.suppress(Exception):
                self._answers[content["kind"]](*(content[name] for name in FIELDS[content["kind"]]))


def _is_question(content: Any) -> bool:
    fields = FIELDS.get(kind) if isinstance(content, dict) and isinstance(kind := content.get("kind"), str) else None
    return fields is not None and all(isinstance(content.get(name), kind) for name, kind in fields.items())


# -- changes of a gradient --------------------------------------------------------------------------------------------

MOST_LEAVES = 12  # lines of an effect
NOISE_SEED = 0  # the preview and the edit add the same noise


def change_of(how: str, text: str) -> Any:
    """A change that a person has typed: a "value" (a number or a nested list), a factor to "scale" by, "zero", a norm to "clip"
    to, an "element" ("0, 1 = 2.5"), the standard deviation of "noise". ValueError: the text cannot be read so.
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
