"""The answer of explain: its text, its causes as data, its picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from .. import words
from ..answers.causes.answer import answer
from ..answers.causes.cause import Cause
from ..answers.causes.check import ASKED
from ..answers.causes.facts import Facts
from ..answers.causes.question import Question
from ..answers.checks.ask import page_of
from ..errors import NotDrawableError
from ..graph import Document, Source, State, Step, Value
from ..pictures.render import printable, theme_named
from ..runtime.uncopied import Uncopied
from ..sources.anything import NamesLater, is_drawable
from .picture import whole_in
from .questions import facts_about

CELL = (1100, 700)  # px of a picture that a notebook's cell shows whole, below its answer


class Seen(NamedTuple):
    """What an explanation keeps of the graph: the document, the tensor's id, the numbers of the last pass."""

    document: Document
    subject: str
    past: Mapping[str, Value | None]


def _look_later(q: Question, variables: dict[str, Any]) -> Callable[[], Seen]:
    """Gives the graph of a question. It holds the tensor and the root, and none of the caller's other variables."""
    if "facts" in vars(q):
        seen = _seen(q.facts)
        return lambda: seen
    tensor, root, names = q.tensor, q.root, NamesLater(variables, is_drawable)
    return lambda: _seen(facts_about(tensor, root, names()))


def _seen(facts: Facts) -> Seen:
    return Seen(facts.document, facts.subject.id, facts.past)


class Explanation(Uncopied):
    """The answer of `explain`. Its text is the answer; a notebook cell that ends in one shows it.

    `causes`: the causes as data, the nearest first. `details`: numbers, lines and conditions, as text. `is_recorded`: a
    recorder has seen the program. `about`: the name of the tensor in question, if it has one.
    """

    kind = "explanation"

    def __init__(
        self, question: Question | None, causes: Sequence[Cause], variables: dict[str, Any], headed: bool = True
    ) -> None:
        self.causes = tuple(causes)
        said = answer(question, self.causes, headed, page_of)
        self._look = None if question is None else _look_later(question, variables)
        self._said, self.details = printable(said.short), printable(said.details)
        self.about = None if question is None else question.name_of(question.tensor)
        self.is_recorded = question is not None and question.history.is_recorded

    def __str__(self) -> str:
        return self._said

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from ..pictures.files.cell import answer_bundle

        return answer_bundle(self._said, self.details, words.MORE_DETAILS)

    def to_json(self) -> str:
        """The answer as JSON, for editors and programs."""
        told = []
        for c in self.causes:
            page, sure = page_of(c.kind) or (None, ASKED)
            at = {} if c.source is None else {"file": c.source.file, "line": c.source.line}
            told.append({"kind": c.kind, "check": page and page.code, "certainty": sure, **at})
        return json.dumps({"text": str(self), "details": self.details, "causes": told}, ensure_ascii=False, indent=1)

    @property
    def document(self) -> Document | None:
        """The graph of the answer, or None."""
        return None if self._seen is None else self._seen.document

    @cached_property
    def _seen(self) -> Seen | None:
        """The graph of the answer: it is read when it is asked for."""
        return None if self._look is None else self._look()

    def figure(self, theme: str = "light") -> AnsweredFigure:
        """Draw the graph, highlight the cause, and write the answer under it. `theme`: "light", "dark" or "waite".
        NotDrawableError: there is no graph. UnknownChoiceError: no such theme.
        """
        if self._seen is None:
            raise NotDrawableError("there is no graph to draw: the error did not come from a backward pass")
        return AnsweredFigure(self, self._seen, theme)

    @property
    def culprit(self) -> str | None:
        """The id to highlight: the node of the nearest cause, else the op at its line, else the tensor."""
        cause = self.causes[0] if self.causes else None
        if self._seen is None or cause is None:
            return None
        ops = self._seen.document.ops if cause.source is not None else ()
        wanted = [s for s in (cause.said.get("saved"), cause.source) if isinstance(s, Source)]
        there = [o.node or o.id for s in wanted for o in ops if o.source and (o.source.file, o.source.line) == (s.file, s.line)]
        return next(iter((*cause.nodes, *there, *cause.tensors)), self._seen.subject)


class AnsweredFigure(Uncopied):
    """An `explanation` with its picture, `svg`, under which it stands. A notebook cell that ends in one shows both."""

    kind = "explanation"

    def __init__(self, explanation: Explanation, seen: Seen, theme: str) -> None:
        self.explanation = explanation
        lit = explanation.culprit
        state = State(dict(seen.past), None if lit is None else Step(lit, ""))
        drawing = whole_in(CELL, seen.document, lit).without_code
        self.svg = drawing.svg(state, theme_named(theme), caption=" ".join(str(explanation).split("\n")))
        self._picture, self._place = drawing.svg(state, theme_named(theme)), drawing.place(lit or "")

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes as data."""
        return self.explanation.causes

    def __str__(self) -> str:
        return str(self.explanation)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from ..pictures.files.cell import cell_bundle, still_svg

        shown = cell_bundle(self._picture, str(self), said=str(self), at=self._place)
        return {**shown, "image/svg+xml": still_svg(self.svg)} if "image/svg+xml" in shown else shown
