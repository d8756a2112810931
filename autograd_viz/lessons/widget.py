"""The widget of a question: the page asks and shows, the kernel checks, and answers stay in this process.

A saved notebook has the question as a page in a frame, which judges without a kernel: Note [Three outputs] in widget/widget.py.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import traitlets

from .. import words
from ..graph.model import Value
from ..pictures.render import THEMES
from ..pictures.render.escape import element, text
from ..widget.front_end import OneSource, show_live
from ..widget.html import filled, frame, offline_page
from .question import TRIES, Question, Verdict, answer_text, given_text, judge, shown

_answers: list[dict[str, Any]] = []


def answers() -> list[dict[str, Any]]:
    """Every answer to a question, in order: a table with one dict per row. Nothing leaves the machine.

    The columns are: `question`, `attempt` (1 for the first), `given`, `right`, `state` ("right", "again" after a first wrong
    answer, "wrong", "shown") and `time`. ``pandas.DataFrame(answers())`` makes a frame of it.
    """
    return [dict(row) for row in _answers]


_RESPONSES = ("AGAIN", "RIGHT", "WRONG", "SHOWN", "UNREAD", "EMPTY", "UNFINISHED")
_AROUND = 190  # px: the question, the buttons and what is said after an answer
_FIELD = {"row": 82, "one": 40, "many": 40, "order": 76}  # px


def question_page(question: Question, asked: dict[str, Any]) -> str:
    """The page in its frame; `asked` is what the widget sends to its front end."""
    styles = ("question/question.css", "shared/unseen.css", "page/page.css")
    data = {"asked": {**asked, "mark": ""}, "judging": judging(question)}
    page = offline_page("question/page.js", styles, data, words.ASK_TITLE, words.ASK_TITLE, question.text.replace("`", ""))
    whole = frame(page, _AROUND + _FIELD[question.kind])
    return filled("page/output.html", {"mark": asked["mark"], "title": "", "frame": whole})


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


_LABELS = ("TITLE", "PLACEHOLDER", "CHECK", "SHOW", "CLEAR", "WAIT", "NO_KERNEL")
_CODE = re.compile(r"`([^`]*)`")


class QuestionWidget(OneSource):
    """A question in a notebook. `answer` and `show` do from code what a reader does with the mouse. The `verdict` is the
    response to the last answer: its state ("right", "again", "wrong", "shown", "unread"), the sentence, the reason or a hint.
    """

    entry, styles = "question/question.js", ("question/question.css",)
    asked = traitlets.Dict().tag(sync=True)
    verdict = traitlets.Dict().tag(sync=True)

    def __init__(self, question: Question) -> None:
        self.question = question
        self._attempts = self._failed = 0
        self._mark, self._static = f"av-still-{secrets.token_hex(8)}", words.ASK_STATIC
        asked: dict[str, Any] = {name: getattr(question, name) for name in ("kind", "text", "subject")}
        asked["options"] = [asdict(o) for o in question.options]
        asked["words"] = {label.lower(): getattr(words, f"ASK_{label}") for label in _LABELS}
        asked["palettes"] = {name: THEMES[name].colours() for name in ("light", "dark")}
        super().__init__(asked={**asked, "language": words.language(), "mark": self._mark})
        self.on_msg(self._heard)

    @property
    def right(self) -> bool | None:
        """Was the last answer right? None before the first answer."""
        return {"right": True, "again": False, "wrong": False}.get(str(self.verdict.get("state")))

    def answer(self, given: Any) -> Verdict:
        """Answer, and return the response. For a row: a number, a list or None. Else: an option's text, or a list of them."""
        if self.question.kind == "row":
            return self._judge(_text(getattr(given, "tolist", lambda: given)()))
        texts = [o.text.strip("`") for o in self.question.options]
        chosen = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        return self._judge([texts.index(_text(c)) if _text(c) in texts else -1 for c in chosen])

    def show(self) -> Verdict:
        """Give up, and see the answer."""
        return self._say(shown(self.question), "")

    def _judge(self, given: Any) -> Verdict:
        verdict = judge(self.question, given, self._failed)
        self._failed += verdict.state in ("again", "wrong")
        return self._say(verdict, given_text(self.question, given))

    def _say(self, verdict: Verdict, given: str) -> Verdict:
        if verdict.state != "unread":
            self._attempts += 1
            row: dict[str, Any] = {"question": self.question.text, "attempt": self._attempts, "given": given}
            now = datetime.now().astimezone().isoformat(timespec="seconds")
            _answers.append(row | {"right": verdict.state == "right", "state": verdict.state, "time": now})
        self.verdict = {**asdict(verdict), "count": self.verdict.get("count", 0) + 1}
        return verdict

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"kind": "answer", "given": str() | int() | list() as given}:
                self._judge(given)
            case {"kind": "show"}:
                self.show()

    def still(self) -> dict[str, Any]:
        """The question as text, for a front end without scripts: MIME type -> data."""
        options = element("ul", "".join(element("li", _marked_up(o.text)) for o in self.question.options))
        body = element("p", f"{element('b', text(words.ASK_TITLE))} {_marked_up(self.question.text)}")
        body += options * bool(self.question.options) + element("p", element("i", text(self._static)))
        return {"text/html": element("div", body, class_=self._mark), "text/plain": repr(self)}

    def __repr__(self) -> str:
        options = "".join(f"\n  - {o.text}" for o in self.question.options)
        return f"{words.ASK_TITLE}: {self.question.text}{options}"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        live = super()._repr_mimebundle_(**kwargs)
        data, metadata = live if live is not None else ({}, {})
        return {**data, "text/plain": repr(self)}, metadata

    def _ipython_display_(self) -> None:
        """Show the live question, and the outputs that stay: see Note [Three outputs]."""
        show_live(self, repr(self), self.still(), {"text/html": question_page(self.question, self.asked)})


def _text(given: Any) -> str:
    """An answer as a reader writes it; "" if Python refuses it (a number of 4,300 digits, a list 1,000 deep)."""
    try:
        return str(given)
    except (ValueError, RecursionError):
        return ""


def _marked_up(sentence: str) -> str:
    """A sentence as HTML; the parts between backticks are code."""
    parts = _CODE.split(sentence)
    return "".join(element("code", text(part)) if i % 2 else text(part) for i, part in enumerate(parts))
