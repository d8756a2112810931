"""A question as a value, and the response to an answer. It does not use widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import words
from ..graph.model import Value
from ..graph.text import value_text
from .reading import agrees, read

Slip = Callable[[Any], str]  # the mistake behind a wrong answer, or ""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the choices. `role` is "green", "yellow", "brown" or "blue" for a swatch of that colour."""

    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer and the reason.

    Attributes:
        kind: "row" (write a number or None), "one" (choose one), "many" (choose any), "order" (choose all, in order).
        text: the question; `code` between backticks.
        answer: for a row a Value or None, else indices of `options`.
        why: the reason.
        slip: a function from a wrong answer to the mistake behind it. It gets a Reading for a row, else the indices.
        subject: for a row: the tensor's name, the row's name, and the tensor's colour.
    """

    kind: str
    text: str
    answer: Any
    why: str
    options: tuple[Option, ...] = ()
    slip: Slip = lambda _: ""
    subject: tuple[str, str, str] = ("", "", "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The response to an answer.

    Attributes:
        state: "right", "wrong", "shown", or "unread" if it is not an answer yet.
        said: the sentence.
        why: the reason; empty if unread.
    """

    state: str
    said: str
    why: str = ""


def judge(question: Question, given: Any) -> Verdict:
    """Is the answer right, and why?

    Args:
        question: the question.
        given: for a row its text, else an index or a list of them.
    """
    if question.kind == "row":
        return _judge_row(question, str(given))
    chosen = [given] if isinstance(given, int) else given
    known = isinstance(chosen, Sequence) and all(isinstance(i, int) and 0 <= i < len(question.options) for i in chosen)
    if not known or (not chosen and question.kind != "many"):
        return Verdict("unread", words.ASK_EMPTY)
    if question.kind == "order" and len(chosen) < len(question.options):
        return Verdict("unread", words.ASK_UNFINISHED.format(chosen=len(chosen), count=len(question.options)))
    right = (sorted(chosen) if question.kind == "many" else list(chosen)) == list(question.answer)
    return _verdict(question, right, chosen)


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


def _judge_row(question: Question, text: str) -> Verdict:
    reading = read(text)
    if reading is None:
        return Verdict("unread", words.ASK_UNREAD)
    return _verdict(question, agrees(reading, question.answer), reading)


def _verdict(question: Question, right: bool, given: Any) -> Verdict:
    said = (words.ASK_RIGHT if right else words.ASK_WRONG).format(answer=answer_text(question))
    slip = "" if right else question.slip(given)
    return Verdict("right" if right else "wrong", said, words.BETWEEN.join(filter(None, (slip, question.why))))
