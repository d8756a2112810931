"""Questions to a reader. The answer comes from a real backward pass or the real graph when the question is asked.

ask.grad(a, of=c)          what a.grad will be after c.backward()
ask.color(c)               green, yellow or brown
ask.row(c, "is_leaf")      what is in a row of the box
ask.order(e)               which function runs when
ask.saves(y)               what the op of y saves for the backward pass
ask.choice("04.meet")      one of several, from a file beside the notebook (questions.py)
ask.choice("…", [...], f)  one of several; f() finds out which
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .. import words
from ..errors import NotDrawableError
from ..graph.model import Document
from ..graph.text import value_text
from ..sources import anything
from ..sources.shared.names import callers_names
from ..verbs.explain import explain
from . import reasons
from .dry_run import colour_of, dry_run_of, maker_of, tensor_of, written
from .question import Option, Question
from .questions import written as written_question
from .widget import QuestionWidget

_PLACE = re.compile(r" ?[(（][^()（）]*(line|第) ?\d[^()（）]*[)）]")  # of a line of an answer's program


def grad(tensor: Any, of: Any, gradient: Any = None) -> QuestionWidget:
    """What will ``tensor.grad`` be after ``of.backward(gradient)``? The pass runs now, with hooks, and is then undone.
    NotDrawableError: they are no tensors of autograd_viz or of PyTorch. RuntimeError: as ``of.backward(gradient)``.
    """
    _must_be_tensors(tensor, of)
    names = callers_names()
    dry_run = dry_run_of(of, gradient, (tensor,), names)
    (id,) = dry_run.subjects
    if id is None:
        return QuestionWidget(_question_unreached(tensor, of, names))
    (_, name), (_, root) = _drawn(tensor, names), _drawn(of, names)
    numbers = getattr(gradient, "tolist", lambda: gradient)  # of a first gradient, if it has no name
    given = "" if gradient is None else next((name for name, value in names.items() if value is gradient), str(numbers()))
    text = (words.ASK_GRAD_GIVEN if given else words.ASK_GRAD).format(tensor=name, root=root, gradient=given)
    subject = name, "grad", colour_of(tensor_of(dry_run.document, id))
    hint, slips = reasons.hint_grad(dry_run, id, name), reasons.slips_grad(dry_run, id, name)
    return QuestionWidget(Question("row", text, dry_run.grad(id), reasons.why_grad(dry_run, id), (), hint, slips, subject))


def color(tensor: Any) -> QuestionWidget:
    """What colour is the box of a tensor? NotDrawableError: it is no tensor."""
    _must_be_tensors(tensor)
    return QuestionWidget(reasons.color_question(*_drawn(tensor, callers_names())))


def row(tensor: Any, row: str) -> QuestionWidget:
    """What is in a row of a tensor's box: "is_leaf", "requires_grad" or "grad_fn"?
    NotDrawableError: it is no tensor. UnknownChoiceError: another row.
    """
    _must_be_tensors(tensor)
    return QuestionWidget(reasons.row_question(*_drawn(tensor, callers_names()), row))


def order(of: Any, gradient: Any = None) -> QuestionWidget:
    """In which order does ``of.backward(gradient)`` call its functions? The pass runs now, with hooks, and is then undone.
    NotDrawableError: it is no tensor. RuntimeError: as ``of.backward(gradient)``.
    """
    _must_be_tensors(of)
    names = callers_names()
    return QuestionWidget(reasons.order_question(dry_run_of(of, gradient, (), names), _drawn(of, names)[1]))


def saves(tensor: Any) -> QuestionWidget:
    """Which of the tensors around the op that made ``tensor`` does its node save? NotDrawableError: no tensor, or a leaf."""
    _must_be_tensors(tensor)
    document = anything.graph_of(tensor, callers_names()).document
    if tensor_of(document, document.roots[0]).grad_fn is None:
        raise NotDrawableError("ask.saves(x) needs a tensor with a grad_fn; x has none")
    return QuestionWidget(reasons.saves_question(document))


def choice(
    text: str, options: Sequence[Any] | None = None, answer: Callable[[], Any] | None = None, why: str = "", hint: Any = ""
) -> QuestionWidget:
    """A multiple-choice question. `answer` is called now; its result is the right option. ValueError: it is not one of the
    options; or no file has the question.

    Args:
        text: the question; `code` between backticks. Without options, the name of a question in a file (questions.py).
        options: the choices.
        answer: a function; its result, as text, is one of the options. If it raises, the class of the error is the result, and
            `explain` gives the reason.
        why: the reason; the explanation of an error precedes it.
        hint: what is said after a first wrong answer: a text, or a tensor whose `next_functions` are listed.
    """
    names, is_written = callers_names(), options is None or answer is None
    if options is None or answer is None:
        question = written_question(text)
        text, options, why, hint = question.text, question.options, question.why, question.hint_on(names)
        answer = partial(question.found, names)
    texts, reason = [str(o) for o in options], ""
    try:
        found = str(answer())
    except Exception as error:
        found, reason = type(error).__name__, str(explain(error))
        reason = _PLACE.sub("", reason, count=1) if is_written else reason
    if found not in texts:
        raise ValueError(f"the answer to {text!r:.60} is {found!r:.60}, which is not one of the options: {', '.join(texts)}")
    said = words.BETWEEN.join(filter(None, (reason, why)))
    led = hint if isinstance(hint, str) else reasons.hint_edges(anything.graph_of(hint, names).document)
    return QuestionWidget(Question("one", text, (texts.index(found),), said, tuple(map(Option, texts)), led))


def _question_unreached(tensor: Any, of: Any, names: dict[str, Any]) -> Question:
    """The question about a tensor that the pass does not reach. It keeps its grad."""
    (document, name), (other, root) = _drawn(tensor, names), _drawn(of, names)
    t = tensor_of(document, document.roots[0])
    why = words.WHY_UNREACHED.format(grad="None" if t.grad is None else value_text(t.grad))
    text, hint = words.ASK_GRAD.format(tensor=name, root=root), reasons.hint_unreached(other, root)
    slips = (("zero", words.SLIP_ZERO_FOR_NONE),) if t.grad is None else ()
    return Question("row", text, t.grad, why, (), hint, slips, (name, "grad", colour_of(t)))


def _must_be_tensors(*given: Any) -> None:
    for x in given:
        if not anything.is_drawable(x):
            raise NotDrawableError.instead_of("expected a tensor of autograd_viz or of PyTorch", x)


def _drawn(tensor: Any, names: dict[str, Any]) -> tuple[Document, str]:
    """The graph of a tensor, and the caller's name of the tensor, or the expression that made it."""
    document = anything.graph_of(tensor, names).document
    root = tensor_of(document, document.roots[0])
    return document, root.name or written(maker_of(document, root.id)) or "x"
