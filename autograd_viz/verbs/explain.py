"""The verb explain: why a gradient is None, zero, nan, or what it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from types import FrameType
from typing import Any, Literal, NamedTuple, overload

from .. import words
from ..answers.causes import Cause, Facts, Question, answer, causes_of, causes_of_error, complaint, grads_read
from ..errors import NotDrawableError
from ..graph.model import Document, Value
from ..graph.surroundings import Source
from ..graph.trace import State, Step
from ..pictures.render import theme_named
from ..pictures.render.drawing import drawing_of
from ..pictures.render.escape import printable
from ..runtime.uncopied import Uncopied
from ..sources.anything import NamesLater, is_drawable, is_leaf
from ..sources.asking import history_of, look, unseen
from ..sources.raised import Where, failing_node, where_raised
from ..sources.shared.names import asking_frame, names_by_identity, value_at, visible_names
from ..sources.shared.source_code import source_at
from .options import check_options


class Seen(NamedTuple):
    """What an explanation keeps of the graph: the document, the tensor's id, the numbers of the last pass."""

    document: Document
    subject: str
    past: Mapping[str, Value | None]


class Asked(NamedTuple):
    """A question, with the caller's variables and the root that was given."""

    question: Question
    variables: dict[str, Any]

    def later(self) -> Callable[[], Seen]:
        """Gives the graph. It holds the tensor and the root, and none of the caller's other variables."""
        q = self.question
        if "facts" in vars(q):
            seen = _seen(q.facts)
            return lambda: seen
        tensor, root, names = q.tensor, q.root, NamesLater(self.variables, is_drawable)
        return lambda: _seen(_facts(tensor, root, names()))


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

    def __init__(self, asked: Asked | None, causes: Sequence[Cause], headed: bool = True) -> None:
        self.causes = tuple(causes)
        said = answer(None if asked is None else asked.question, self.causes, headed)
        self._look = None if asked is None else asked.later()
        self._said, self.details = printable(said.short), printable(said.details)
        self.is_recorded = asked is not None and asked.question.history.is_recorded

    def __str__(self) -> str:
        return self._said

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from ..pictures.files.cell import answer_bundle

        return answer_bundle(self._said, self.details, words.MORE_DETAILS)

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
        there = [o.node or o.id for s in wanted for o in ops if o.source is not None and _is_at(o.source, s)]
        return next(iter((*cause.nodes, *there, *cause.tensors)), self._seen.subject)


def _is_at(source: Source, line: Source | None) -> bool:
    return line is not None and (source.file, source.line) == (line.file, line.line)


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
    """Explain why a tensor's grad is None, zero, nan, huge, or what it is; or explain an error of backward().

    In PyTorch programs it uses what `watch()` or `record()` recorded.

    Args:
        what: a tensor or an exception. Default: the last error.
        loss: the root that the gradient should come from. Default: the root of the last backward pass.
        show: also draw the graph and highlight the cause.
        theme: theme of the picture: "light", "dark" or "waite".

    Returns:
        an `Explanation`: its text is the answer, `causes` has it as data, `details` has the rest. With `show`, an
        `AnsweredFigure`.

    Raises:
        NotDrawableError: `what` is neither a tensor nor an exception, or there is nothing to draw.
        UnknownChoiceError: the theme does not exist.
    """
    theme_named(theme)
    check_options(show=show)
    frame = sys._getframe(1)
    if what is None or isinstance(what, BaseException):
        found = _of_error(what if what is not None else _last_error(), frame)
    else:
        found = _of_tensor(what, loss, frame)
    return found.figure(theme) if show else found


def _of_tensor(tensor: Any, loss: Any, frame: FrameType) -> Explanation:
    for given in (tensor, *([] if loss is None else [loss])):
        if not is_drawable(given):
            raise NotDrawableError.instead_of("explain(x) takes a tensor of autograd_viz or of PyTorch, or an exception", given)
    frame = asking_frame(frame, [tensor, *([] if loss is None else [loss])])
    return explained(tensor, loss, visible_names(frame))


def explained(tensor: Any, loss: Any, variables: dict[str, Any], is_recorded: bool = True) -> Explanation:
    """The answer about a tensor.

    Args:
        tensor: as for `explain`.
        loss: as for `explain`.
        variables: the names that the asker sees.
        is_recorded: False for a pass that is not the program's, which nothing has recorded.
    """
    with unseen(tensor):
        asked = _asked(tensor, loss, variables, is_recorded)
        return Explanation(asked, causes_of(asked.question))


def _asked(tensor: Any, loss: Any, variables: dict[str, Any], is_recorded: bool = True) -> Asked:
    known = names_by_identity(variables, is_drawable)

    def name_of(t: Any) -> str | None:
        return next((name for name, other in known if other is t), None)

    question = Question(tensor, loss, history_of(tensor, is_recorded), name_of, partial(_facts, tensor, loss, variables))
    return Asked(question, variables)


def _facts(tensor: Any, loss: Any, variables: Mapping[str, Any]) -> Facts:
    """The live graph as a document, with the numbers of the last pass."""
    seen = look(tensor, loss, variables)
    return Facts(seen.document, seen.subject, seen.past, seen.live, seen.loss, bool(seen.changed))


def _last_error() -> BaseException | None:
    """The error that is being handled, else the last unhandled error."""
    found = sys.exc_info()[1] or getattr(sys, "last_value", None)
    return found if isinstance(found, BaseException) else None


def _of_error(error: BaseException | None, frame: FrameType) -> Explanation:
    if error is None:
        return Explanation(None, [Cause("no_error")], headed=False)
    where = where_raised(error.__traceback__, frame)
    line, names = source_at(where.frame.f_code, where.lasti), {**where.outer, **visible_names(where.frame)}
    with unseen(next(iter((*where.wanted, *where.roots)), None)):
        return _looked_up(error, where, names, line)


def _looked_up(error: BaseException, where: Where, names: dict[str, Any], line: Source | None) -> Explanation:
    """What an error was about."""
    if "NoneType" in str(error):  # a line reads a grad that is None
        for tensor in (found for path in grads_read(line) if is_drawable(found := value_at(path, names))):
            if tensor.grad is None and is_leaf(tensor):
                return explained(tensor, None, names)
    for tensor in where.wanted:
        asked = _asked(tensor, where.roots[0] if where.roots else None, names)
        if found := complaint(asked.question, str(error), line):
            return Explanation(asked, found)
    about = _root_of_error(error, where.roots, names)
    failing = failing_node(error.__traceback__)
    question, node = None if about is None else about.question, "" if failing is None else failing.name()
    causes = causes_of_error(question, str(error), node, line)
    return Explanation(about, causes, headed=False)


def _root_of_error(error: BaseException, roots: Sequence[Any], names: dict[str, Any]) -> Asked | None:
    """A question about the root of the pass that raised."""
    named = re.search(r"element (\d+) of tensors", str(error))
    index = int(named.group(1)) if named is not None else 0
    return _asked(roots[index], roots[index], names) if index < len(roots) else None
