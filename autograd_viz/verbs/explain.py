"""The verb explain: why a gradient is None, zero, nan, or what it is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import FrameType
from typing import Any, Literal, NamedTuple, overload

from .. import words
from ..answers.causes.answer import answer
from ..answers.causes.cause import Cause, cause_of, source_of
from ..answers.causes.check import ASKED, MAY, SO
from ..answers.causes.code import grads_read, spelling
from ..answers.causes.errors import causes_of_error, complaint
from ..answers.causes.facts import Facts
from ..answers.causes.ops import plain_name, stem
from ..answers.causes.question import Question
from ..answers.checks.ask import UNKNOWN, causes_of, page_of
from ..errors import NotDrawableError, NotFiniteError
from ..graph.model import Document, Value
from ..graph.surroundings import Source
from ..graph.text import shape_text
from ..graph.trace import State, Step
from ..pictures.render import theme_named
from ..pictures.render.drawing import drawing_of
from ..pictures.render.escape import printable
from ..runtime.uncopied import Uncopied
from ..sources.anything import NamesLater, is_drawable, is_leaf
from ..sources.asking import Where, failing_node, place_of_error, ran_before, unseen
from ..sources.shared.names import asking_frame, value_at, visible_names
from ..sources.shared.source_code import source_at
from .options import check_options
from .questions import all_causes, facts_about, question_of, questions_about
from .replay import asked_again


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

    Attributes:
        causes: the causes as data (`reasons.Cause`), the nearest first.
        details: numbers, lines and conditions, as text.
        is_recorded: a recorder has seen the program.
    """

    kind = "explanation"

    def __init__(
        self, question: Question | None, causes: Sequence[Cause], variables: dict[str, Any], headed: bool = True
    ) -> None:
        self.causes = tuple(causes)
        said = answer(question, self.causes, headed, page_of)
        self._look = None if question is None else _look_later(question, variables)
        self._said, self.details = printable(said.short), printable(said.details)
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
        """Draw the graph, highlight the cause, and write the answer under it.

        Args:
            theme: "light", "dark" or "waite".

        Raises:
            NotDrawableError: there is no graph.
            UnknownChoiceError: no such theme.
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
    """An explanation with its picture. A notebook cell that ends in one shows both.

    Attributes:
        explanation: the answer.
        svg: the picture, with the answer under it.
    """

    kind = "explanation"

    def __init__(self, explanation: Explanation, seen: Seen, theme: str) -> None:
        self.explanation = explanation
        lit = explanation.culprit
        state = State(dict(seen.past), None if lit is None else Step(lit, ""))
        drawing = drawing_of(seen.document)
        drawing = drawing if lit is None else drawing.revealing(lit)
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


@overload
def explain(what: Any = None, loss: Any = None, *, show: Literal[False] = ..., theme: str = ...) -> Explanation: ...


@overload
def explain(what: Any = None, loss: Any = None, *, show: bool, theme: str = ...) -> Explanation | AnsweredFigure: ...


def explain(what: Any = None, loss: Any = None, *, show: bool = False, theme: str = "light") -> Explanation | AnsweredFigure:
    """Explain why a tensor's grad is None, zero, nan, huge, or what it is; what a module suffers from; or an error.

    In PyTorch programs it uses what `watch()` or `record()` recorded.

    Args:
        what: a tensor, a module, or an exception. Default: the last error; without one, all that the last pass touched.
        loss: the root that the gradient should come from. Default: the root of the last backward pass.
        show: also draw the graph and highlight the cause.
        theme: theme of the picture: "light", "dark" or "waite".

    Returns:
        an `Explanation`: its text is the answer, `causes` has it as data, `details` has the rest. With `show`, an
        `AnsweredFigure`.

    Raises:
        NotDrawableError: `what` is none of these, or there is nothing to draw.
        UnknownChoiceError: the theme does not exist.
    """
    theme_named(theme)
    check_options(show=show)
    found = _explained(what, loss, sys._getframe(1))
    return found.figure(theme) if show else found


def _explained(what: Any, loss: Any, frame: FrameType) -> Explanation:
    # the error that is being handled, else the last unhandled error
    error = sys.exc_info()[1] or getattr(sys, "last_value", None) if what is None else what
    if isinstance(error, BaseException):
        return of_error(error, frame)
    if what is None or hasattr(what, "named_parameters"):
        return _of_several(what, visible_names(frame))
    tensors = [what, *([] if loss is None else [loss])]
    for x in tensors:
        if not is_drawable(x):
            message = "explain(x) takes a tensor of autograd_viz or of PyTorch, a module, or an exception"
            raise NotDrawableError.instead_of(message, x)
    return explain_tensor(what, loss, visible_names(asking_frame(frame, tensors)))


def _of_several(module: Any, names: dict[str, Any]) -> Explanation:
    """The answer about the leaf that most is wrong with; the others are details."""
    asked = all_causes(asked_again(questions_about(module, names)))
    odd = [(q, name, causes) for q, name, causes in asked if _rank(causes) < RANKS[ASKED]]
    if not odd:
        unknown = next((q for q, _, _ in asked if q.state in ("nan", "inf", "zero") and _is_unknown(q)), None)
        if unknown is not None:
            return Explanation(unknown, causes_of(unknown), names)
        said = {"count": str(len(asked))}
        return Explanation(None, [Cause("all_fine", said=said) if asked else Cause("no_error")], {}, headed=False)
    odd.sort(key=lambda found: _rank(found[2]))
    first = Explanation(odd[0][0], sorted((c for c in odd[0][2] if _rank([c]) < RANKS[ASKED]), key=lambda c: _rank([c])), names)
    others = [answer(q, causes[:1]).short.partition("\n")[0] for q, _, causes in odd[1:]]
    first.details = "\n".join(dict.fromkeys([*filter(None, [first.details]), *map(printable, others)]))
    return first


def _is_unknown(q: Question) -> bool:
    """Does the gradient of what is trained stand out, and nobody knows why? A scaler is there for nan and inf."""
    is_excused = (q.holders and not q.optimizers) or (q.is_scaled and q.state != "zero")
    return not is_excused and all(c.kind in NOT_SHOWN for c in causes_of(q))


NOT_SHOWN = (*UNKNOWN, "not_shown", "no_loss_here")
RANKS = {SO: 0, MAY: 1, ASKED: 2}


def _rank(causes: Sequence[Cause]) -> int:
    """How much one of them is a fault."""
    return min((RANKS[page[1]] for c in causes if (page := page_of(c.kind)) is not None), default=RANKS[ASKED])


def explain_tensor(tensor: Any, loss: Any, variables: dict[str, Any], is_recorded: bool = True) -> Explanation:
    """The answer about a tensor. `is_recorded`: False for a pass that is not the program's, which nothing has recorded."""
    with unseen(tensor):
        question = question_of(tensor, loss, variables, is_recorded)
        if is_recorded:
            [(question, _)] = asked_again([(question, "")])
        return Explanation(question, causes_of(question), variables)


def of_error(error: BaseException, frame: FrameType) -> Explanation:
    """The answer about an error."""
    where = place_of_error(error.__traceback__, frame)
    line, names = source_at(where.frame.f_code, where.lasti), {**where.outer, **visible_names(where.frame)}
    if isinstance(error, NotFiniteError):  # a run has stopped: the gradients are there
        return _of_several(None, {**visible_names(frame), **names})
    with unseen(next(iter((*where.wanted, *where.roots)), None)):
        return _looked_up(error, where, names, line)


def _looked_up(error: BaseException, where: Where, names: dict[str, Any], line: Source | None) -> Explanation:
    """What an error was about."""
    if "NoneType" in str(error):  # a line reads a grad that is None
        for tensor in (found for path in grads_read(line) if is_drawable(found := value_at(path, names))):
            if not (is_leaf(tensor) or tensor.retains_grad) or tensor.grad is None:
                return explain_tensor(tensor, None, names)
    for tensor in where.wanted:
        question = question_of(tensor, where.roots[0] if where.roots else None, names)
        if found := complaint(question, str(error), line):
            return Explanation(question, found, names)
    named = re.search(r"element (\d+) of tensors", str(error))
    index = int(named.group(1)) if named is not None else 0
    root = where.roots[index] if index < len(where.roots) else None  # of the pass that raised
    about = None if root is None else question_of(root, root, names)
    failing = failing_node(error.__traceback__)
    causes = causes_of_error(about, str(error), "" if failing is None else failing.name(), line)
    ran = ran_before(error.__traceback__) if about is None and causes[0].kind in ("unknown_error", "error") else None
    if ran is not None:
        about = question_of(ran, ran, names)  # in the forward pass
    if ran is not None and about is not None and causes[0].kind == "unknown_error":
        op = about.op if source_of(about.op) is not None else None
        name = f"{plain_name(stem(ran.grad_fn.name()))}()" if op is None else spelling(op)
        causes = [cause_of("ran_before", op, op=name, shape=shape_text(tuple(ran.shape)))]
    return Explanation(about, causes, names, headed=False)
