"""The verb explain: why is this gradient None, zero, nan, or what it is?"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from .drawing import drawing_of
from .errors import NotDrawableError
from .graph.model import Document, Source
from .graph.trace import State, Step
from .reasons import (
    Cause,
    Facts,
    causes_of,
    causes_of_error,
    complaint,
    grads_read,
    last_root,
    led_off_at,
    open_origins,
    sentences,
)
from .render import theme_named
from .render.escape import printable
from .sources.anything import is_drawable
from .sources.asking import is_lost, losses_beside, question
from .sources.names import asking_frame, source_at, value_at, visible_names
from .sources.raised import Where, failing_node, where_raised

NOT_RUN = ("not_run", "not_run_freed", "not_run_array", "not_run_unknown", "not_run_or_kept")
NO_LOSS = ("no_loss", "no_loss_cleared")


class Explanation:
    """The answer, as text; a notebook cell that ends in one shows it.

    Attributes:
        causes: the reasons as data (`reasons.Cause`), the nearest first.
        document: the graph that was looked at; None if there is none.
    """

    def __init__(self, facts: Facts | None, causes: Sequence[Cause], headed: bool = True) -> None:
        self.causes = tuple(causes)
        self.document: Document | None = None if facts is None else facts.document
        self._state = State() if facts is None else State(dict(facts.past))
        self._subject = None if facts is None else facts.subject
        self._headed = headed

    def __str__(self) -> str:
        return printable("\n".join(sentences(self._subject, self.causes, self._headed)))

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": str(self)}

    def figure(self, theme: str = "light") -> AnsweredFigure:
        """The picture of the graph with the culprit lit, and the answer under it.

        Args:
            theme: "light", "dark" or "waite".

        Raises:
            NotDrawableError: there is no graph.
            UnknownChoiceError: no such theme.
        """
        if self.document is None:
            raise NotDrawableError("there is no graph to draw: the error did not come from a backward pass")
        return AnsweredFigure(self, theme)

    @property
    def culprit(self) -> str | None:
        """The id of what to light: the node that the nearest cause names, else the op of its line, else the tensor."""
        document, cause = self.document, self.causes[0] if self.causes else None
        if document is None or cause is None:
            return None
        ops = [o.id for o in document.ops if o.source == cause.source is not None and {*o.outputs} & {*cause.tensors}]
        return next(iter((*cause.nodes, *ops, *cause.tensors)), None)


class AnsweredFigure:
    """An explanation with its picture; a notebook cell that ends in one shows both, the answer first.

    Attributes:
        explanation: the answer.
        svg: the picture, with the answer under it.
    """

    def __init__(self, explanation: Explanation, theme: str) -> None:
        document = explanation.document
        assert document is not None
        self.explanation = explanation
        lit = explanation.culprit
        state = State(explanation._state.values, None if lit is None else Step(lit, ""))
        drawing = drawing_of(document)
        drawing = drawing if lit is None else drawing.revealing(lit)
        self.svg = drawing.svg(state, theme_named(theme), caption=" ".join(str(explanation).split("\n")))
        self._picture, self._place = drawing.svg(state, theme_named(theme)), drawing.place(lit or "")

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The reasons as data."""
        return self.explanation.causes

    def __str__(self) -> str:
        return str(self.explanation)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from .export.cell import cell_bundle, still_svg

        shown = cell_bundle(self._picture, str(self), said=str(self), at=self._place)
        return {**shown, "image/svg+xml": still_svg(self.svg)} if "image/svg+xml" in shown else shown


def explain(what: Any = None, loss: Any = None, *, show: bool = False, theme: str = "light") -> Any:
    """Why a tensor's grad is None, zero, nan, huge, or what it is; or what an error of backward() was about.

    Args:
        what: a tensor, or an exception; left out: the last error.
        loss: the root that the gradient should come from; left out: what the caller's variables lead to.
        show: with the picture, the culprit lit.
        theme: of the picture: "light", "dark" or "waite".

    Returns:
        An `Explanation` (its text is the answer, `causes` the same as data), or with `show` a figure with it.

    Raises:
        NotDrawableError: neither a tensor nor an exception, or no picture for it.
        UnknownChoiceError: no such theme.
    """
    theme_named(theme)
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
    names, here = visible_names(frame), _place(frame)
    loss = _passed_without_graph(tensor, names, here) if loss is None else loss
    facts, _ = _facts(tensor, loss, names, here)
    causes = causes_of(facts)
    cut_off = _cut_off(tensor, names, here) if loss is None and _is_a_loss_doubtful(facts, causes) else None
    return cut_off or Explanation(facts, [*causes, *_origin(facts, causes, names)])


def _origin(facts: Facts, causes: Sequence[Cause], names: dict[str, Any]) -> list[Cause]:
    """Nothing requires grad of which the tensor was computed: of the nearest that lost its history, where."""
    for path in open_origins(facts, causes):
        found = value_at(path, names)
        cause = led_off_at(_facts(found, None, names, facts.here)[0]) if is_drawable(found) else None
        if cause is not None and cause not in causes:
            return [cause]
    return []


def _passed_without_graph(tensor: Any, names: dict[str, Any], here: Source | None) -> Any:
    """A variable on which the code calls backward(), and which has no graph: that call can but fail."""
    root = last_root(here)
    found = None if root is None else value_at(root, names)
    return found if is_drawable(found) and is_lost(found, tensor) else None


def _is_a_loss_doubtful(facts: Facts, causes: Sequence[Cause]) -> bool:
    """No pass went through what the tensor leads to: it is no number, or a pass may have gone through something else."""
    if causes and causes[0].kind in NO_LOSS:
        return True
    numbers = [id for id in facts.loss if math.prod(facts.tensors[id].value.shape) == 1]
    if causes and causes[0].kind == "not_leaf":
        return not numbers
    may_be_another = bool(facts.live.passes()) or any(facts.has_run(node) is None for node, _ in facts.starts)
    return bool(causes) and causes[0].kind in NOT_RUN and (not numbers or may_be_another)


def _cut_off(tensor: Any, names: dict[str, Any], here: Source | None) -> Explanation | None:
    """The tensor leads to something that no pass went through: perhaps it was on its way to a loss, and was cut off."""
    for loss in losses_beside(tensor, names):
        facts, _ = _facts(tensor, loss, names, here)
        causes = causes_of(facts)
        if causes and (causes[0].kind.startswith("cut_") or causes[0].kind == "not_leaf_cut"):
            return Explanation(facts, causes)
    return None


def _facts(tensor: Any, loss: Any, variables: dict[str, Any], here: Source | None) -> tuple[Facts, Any]:
    """What is known about a tensor, and the live graph."""
    q = question(tensor, loss, variables)
    return Facts(q.document, q.subject, q.past, q.live, q.loss, here), q.graph


def _place(frame: FrameType) -> Source | None:
    return source_at(frame.f_code, frame.f_lasti)


def _last_error() -> BaseException | None:
    """The error that is being handled, or else the last that nobody handled."""
    found = sys.exc_info()[1] or getattr(sys, "last_value", None)
    return found if isinstance(found, BaseException) else None


def _of_error(error: BaseException | None, frame: FrameType) -> Explanation:
    if error is None:
        return Explanation(None, [Cause("no_error")], headed=False)
    where = where_raised(error.__traceback__, frame)
    line, names = source_at(where.frame.f_code, where.lasti), {**where.outer, **visible_names(where.frame)}
    about = _of_grad_read(error, names, line) or _of_what_was_given(error, where, names, line)
    if about is not None:
        return about
    facts, node = _graph_of_error(error, where, names, line)
    causes = causes_of_error(facts, str(error), node, line)
    return Explanation(facts, [*causes, *(_origin(facts, causes, names) if facts is not None else [])], headed=False)


def _of_grad_read(error: BaseException, names: dict[str, Any], line: Source | None) -> Explanation | None:
    """A line failed on None, and reads a grad that is None: why that is so."""
    read = grads_read(line) if "NoneType" in str(error) else []
    for tensor in (found for path in read if is_drawable(found := value_at(path, names))):
        facts, _ = _facts(tensor, None, names, line)
        if facts.subject.grad is None:
            return Explanation(facts, causes_of(facts))
    return None


def _of_what_was_given(error: BaseException, where: Where, names: dict[str, Any], line: Source | None) -> Explanation | None:
    """What is wrong with a tensor that grad() or an optimizer was given."""
    for tensor in where.wanted:
        facts, _ = _facts(tensor, where.roots[0] if where.roots else None, names, line)
        found = complaint(facts, str(error), line)
        if found:
            return Explanation(facts, found, headed=False)
    return None


def _graph_of_error(
    error: BaseException, where: Where, names: dict[str, Any], line: Source | None
) -> tuple[Facts | None, str | None]:
    """The graph of the pass that raised, seen from the user's code, and the id of the node that raised."""
    named = re.search(r"element (\d+) of tensors", str(error))
    index = int(named.group(1)) if named is not None else 0
    if index >= len(where.roots):
        return None, None
    facts, graph = _facts(where.roots[index], where.roots[index], names, line)
    return facts, graph.node_ids.get(failing_node(error.__traceback__))
