"""A question as a value, and the response to an answer. It does not use widgets.

# Note [Two tries]
A wrong answer gets a hint and another try; the second wrong answer gets the right one. The hint is the mistake behind the
answer, if the graph knows it, else a fact that leads to the answer. All of it is data, so that a saved page judges as the
kernel does (static/question/model.js).
"""

from __future__ import annotations

import ast
import cmath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import words
from ..graph.model import Value
from ..graph.text import value_text

Number = int | float
_TENSOR = re.compile(r"^tensor\((.*)\)$", re.DOTALL)
_LONGEST = 2000  # characters
_CLOSE = 2e-3  # relative; a reader may round as PyTorch prints


class Reading(NamedTuple):
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
        shape, numbers = _read(found)
        return Reading(shape, tuple(map(float, numbers)))
    except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
        return None


def _read(nested: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists, and their numbers in row-major order. Ragged lists raise ValueError."""
    if not isinstance(nested, list | tuple):
        return (), [nested]
    parts = [_read(part) for part in nested]
    if len({shape for shape, _ in parts}) != 1:
        raise ValueError("ragged")
    return (len(nested), *parts[0][0]), [number for _, numbers in parts for number in numbers]


def agrees(reading: Reading, value: Value | None) -> bool:
    """Does the reading agree with the value? Rounded numbers do, nan with nan, a number with a tensor of one element."""
    if value is None or reading.numbers is None:
        return value is None and reading.numbers is None
    return _is_shaped(reading, value) and all(map(_close, reading.numbers, value.numbers))


def _is_shaped(reading: Reading, value: Value) -> bool:
    return reading.shape == value.shape or (reading.shape == () and len(value.numbers) == 1)


def _close(a: complex, b: complex) -> bool:
    return (cmath.isnan(a) and cmath.isnan(b)) or cmath.isclose(a, b, rel_tol=_CLOSE, abs_tol=5e-5)


TRIES = 2
Slip = tuple[Any, str]  # a wrong answer, and the mistake behind it


@dataclass(frozen=True, slots=True)
class Option:
    """One of the choices. `role` is "green", "yellow", "brown" or "blue" for a swatch of that colour."""

    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer and the reason."""

    kind: str  # "row" (write a number or None), "one" (choose one), "many" (choose any), "order" (choose all, in order)
    text: str  # the question; `code` between backticks
    answer: Any  # for a row a Value or None, else indices of `options`
    why: str  # the reason
    options: tuple[Option, ...] = ()
    hint: str = ""  # a fact of the graph that leads to the answer
    # wrong answers with the mistakes behind them: for a row a Value, "none", "zero" or "shape" (any other shape); for a choice
    # (index,), for an order (position, index) of the first wrong one
    slips: tuple[Slip, ...] = ()
    subject: tuple[str, str, str] = ("", "", "")  # for a row: the tensor's name, the row's name, and the tensor's colour


@dataclass(frozen=True, slots=True)
class Verdict:
    """The response to an answer."""

    state: str  # "right", "again" after a first wrong answer, "wrong", "shown", or "unread" if it is not an answer yet
    said: str  # the sentence
    why: str = ""  # the reason, or the hint; empty if unread


def judge(question: Question, given: Any, failed: int = TRIES) -> Verdict:
    """Is the answer (a row's text, else an index or several) right after `failed` wrong ones, and why? See Note [Two tries]."""
    if question.kind == "row":
        return _judge_row(question, str(given), failed)
    chosen = [given] if isinstance(given, int) else given
    known = isinstance(chosen, Sequence) and all(isinstance(i, int) and 0 <= i < len(question.options) for i in chosen)
    if not known or (not chosen and question.kind != "many"):
        return Verdict("unread", words.ASK_EMPTY)
    if question.kind == "order" and len(chosen) < len(question.options):
        return Verdict("unread", words.ASK_UNFINISHED.format(chosen=len(chosen), count=len(question.options)))
    right = (sorted(chosen) if question.kind == "many" else list(chosen)) == list(question.answer)
    return _verdict(question, right, _slip_chosen(question, chosen), failed)


def shown(question: Question) -> Verdict:
    """The answer, for a reader who asks for it."""
    return Verdict("shown", words.ASK_SHOWN.format(answer=answer_text(question)), question.why)


def answer_text(question: Question) -> str:
    """The right answer in words."""
    if question.kind == "row":
        value: Value | None = question.answer
        return "`None`" if value is None else f"`{value_text(value)}`"
    texts = [question.options[i].text for i in question.answer]
    return (words.ASK_THEN if question.kind == "order" else words.COMMA).join(texts) or words.ASK_NONE_OF_THEM


def given_text(question: Question, given: Any) -> str:
    """An answer in words."""
    if question.kind == "row" or not isinstance(given, Sequence):
        return str(given)
    return words.COMMA.join(question.options[i].text if i in range(len(question.options)) else str(i) for i in given)


def _judge_row(question: Question, text: str, failed: int) -> Verdict:
    if (reading := read(text)) is None:
        return Verdict("unread", words.ASK_UNREAD)
    slip = next((said for wrong, said in question.slips if _is_slip(reading, wrong, question.answer)), "")
    return _verdict(question, agrees(reading, question.answer), slip, failed)


def _is_slip(reading: Reading, wrong: Value | str, right: Value | None) -> bool:
    match wrong:
        case "none":
            return reading.numbers is None
        case "zero":
            return reading.numbers is not None and not any(reading.numbers)
        case "shape":
            return reading.numbers is not None and right is not None and not _is_shaped(reading, right)
    return isinstance(wrong, Value) and agrees(reading, wrong)


def _slip_chosen(question: Question, chosen: Sequence[int]) -> str:
    """The mistake behind what was chosen; in an order, behind the first wrong one."""
    first = next((k for k, (a, b) in enumerate(zip(chosen, question.answer, strict=False)) if a != b), 0)
    wrong = (first, chosen[first]) if question.kind == "order" else tuple(chosen)
    return dict(question.slips).get(wrong, "")


def _verdict(question: Question, right: bool, slip: str, failed: int) -> Verdict:
    if not right and failed + 1 < TRIES:
        return Verdict("again", words.ASK_AGAIN, slip or question.hint)
    said = (words.ASK_RIGHT if right else words.ASK_WRONG).format(answer=answer_text(question))
    return Verdict("right" if right else "wrong", said, words.BETWEEN.join(filter(None, ("" if right else slip, question.why))))
