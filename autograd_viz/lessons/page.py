"""A question as a page in a frame, which judges without a kernel. See Note [Three outputs] in widget/widget.py."""

from __future__ import annotations

from typing import Any

from .. import words
from ..graph.model import Value
from ..widget.html import filled, frame, offline_page
from .question import TRIES, Question, answer_text

_RESPONSES = ("AGAIN", "RIGHT", "WRONG", "SHOWN", "UNREAD", "EMPTY", "UNFINISHED")
_AROUND = 190  # px: the question, the buttons and what is said after an answer
_FIELD = {"row": 82, "one": 40, "many": 40, "order": 76}  # px


def question_page(question: Question, asked: dict[str, Any]) -> str:
    """The page in its frame; `asked` is what the widget sends to its front end."""
    page = offline_page(
        "question/page.js",
        ("question/question.css", "shared/unseen.css", "page/page.css"),
        {"asked": {**asked, "mark": ""}, "judging": judging(question)},
        title=words.ASK_TITLE,
        heading=words.ASK_TITLE,
    )
    return filled(
        "page/output.html", {"mark": asked["mark"], "title": "", "frame": frame(page, _AROUND + _FIELD[question.kind])}
    )


def judging(question: Question) -> dict[str, Any]:
    """What a page needs to respond to answers."""
    return {
        "answer": _plain(question.answer) if question.kind == "row" else list(question.answer),
        "hint": question.hint,
        "slips": [[_plain(wrong), said] for wrong, said in question.slips],
        "why": question.why,
        "tries": TRIES,
        "between": words.BETWEEN,
        "said": {name.lower(): getattr(words, f"ASK_{name}") for name in _RESPONSES},
        "text": answer_text(question),
    }


def _plain(given: Any) -> Any:
    """A value as JSON: numbers are texts, because of nan and inf."""
    if not isinstance(given, Value):
        return given
    return {"shape": list(given.shape), "numbers": [str(n).replace("inf", "Infinity") for n in given.numbers]}
