"""The verb explain: why a gradient is None, zero, nan, or what it is."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any, Literal, overload

from ..answers.causes.answer import answer
from ..answers.causes.cause import Cause, cause_of, source_of
from ..answers.causes.check import ASKED, MAY, SO
from ..answers.causes.code import grads_read, spelling
from ..answers.causes.paths import behind
from ..answers.causes.question import Question
from ..answers.checks.ask import UNKNOWN, causes_of, page_of
from ..answers.checks.bad_numbers import births_of_loss
from ..answers.checks.errors import causes_of_error, complaint
from ..errors import NotDrawableError, NotFiniteError
from ..graph.op_names import plain_name, stem
from ..graph.surroundings import Source
from ..graph.text import shape_text
from ..pictures.render import printable, theme_named
from ..sources.anything import is_drawable, is_leaf
from ..sources.asking import Where, call_that_raised, failing_node, has_run, is_partial, place_of_error, ran_before, unseen
from ..sources.shared.names import asking_frame, value_at, visible_names
from ..sources.shared.source_code import source_at
from .explanation import AnsweredFigure, Explanation
from .options import check_options
from .questions import all_causes, asked_again, of_its_run, other_roots, question_of, questions_about


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

    Example:
        >>> x = av.tensor([1.0, 2.0], requires_grad=True)
        >>> loss = (x - 5).relu().sum()
        >>> loss.backward()
        >>> print(av.explain(x))
        x.grad is all zero: relu got no positive input, only -4.0 … -3.0 (line 1).
        → Use leaky_relu, a smaller learning rate, or another initialization.
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
    names = visible_names(asking_frame(frame, tensors))
    return (_of_root(what, names) if loss is None else None) or explain_tensor(what, loss, names)


def _of_root(root: Any, names: dict[str, Any]) -> Explanation | None:
    """What is odd in the loss of the last pass, or in what led to it: nobody asks for its own grad. None if nothing is."""
    with unseen(root):
        if (is_leaf(root) and root.requires_grad) or root.retains_grad or root.numel() != 1:
            return None
        question = question_of(root, root, names)
        of_lines = {p.source: p.root for p in question.passes if p.root is not None}  # of several losses, or of a scaled one
        is_part = question.op is not None and any(question.op in behind([r]) for r in of_lines.values())
        if not root.requires_grad:
            return None if is_part or question.op is None or not of_lines else _of_value(question, names)
        has_begun = is_part if question.history.is_recorded else has_run(root)
        births = births_of_loss(question) if _is_bad(root) and not question.history.is_running() else []
    if births:
        return Explanation(question, births, names, headed=False)
    if not has_begun:
        return None
    is_term = question.history.is_recorded and question.op not in of_lines.values()  # or what a scaler multiplies
    return _of_its_pass(question, None if is_term else root, names)


def _of_its_pass(question: Question, what: Any, names: dict[str, Any]) -> Explanation | None:
    """What is odd in the pass of a loss, or that the path to it is cut; that nothing is; None if that is not known."""
    asked = asked_about(what, names)
    found = explain_asked(asked, names)
    kind = found.causes[0].kind.replace("all_fine", "loss_fine")
    if "loss_fine" not in kind:
        return found if any(page_of(c.kind) is not None for c in found.causes) else None
    trained = {p for q, _, _ in asked[:1] for h in q.holders if h.steps for p in h.leaves}
    if question.op is not None and question.op is question.last_root and not trained <= question.leaves_of(question.op):
        whole = explain_asked(asked_about(None, names), names)
        if any(code_of(c) == CUT for c in whole.causes):  # a parameter led to it, and was detached on the way
            return whole
    return Explanation(question, [Cause(kind, said=found.causes[0].said)], names, headed=False)


def _of_value(question: Question, names: dict[str, Any]) -> Explanation | None:
    """What is odd in the run of which it is a value, as the loss of an evaluation is. Nobody asks for its own grad."""
    found, op = explain_asked(asked_about(None, names), names), question.op
    if any(page_of(c.kind) is not None for c in found.causes):
        return found
    is_evaluated = op is not None and op.cut in ("no_grad", "behind_no_grad", "inference")
    return Explanation(question, [cause_of("evaluated", op)], names) if is_evaluated else None


def _of_several(module: Any, names: dict[str, Any]) -> Explanation:
    """The answer about the leaf, or the run, that most is wrong with; the others are details."""
    found = explain_asked(asked_about(module, names), names)
    is_fine = module is None and {c.kind for c in found.causes} <= {"all_fine", "all_fine_unseen", "no_error"}
    return next((Explanation(q, causes, names, headed=False) for q, causes in bad_roots(names)), found) if is_fine else found


def bad_roots(names: dict[str, Any]) -> Iterator[tuple[Question, list[Cause]]]:
    """Each of the user's losses that is nan or inf and on which nobody has called backward(), with the origin of that."""
    for value in names.values():
        if not is_drawable(value):
            continue
        with unseen(value):
            if is_leaf(value) or value.numel() != 1 or not value.is_floating_point():
                continue
            q = question_of(value, value, names)
            births = births_of_loss(q) if _is_bad(value) and not q.history.is_running() else []
        if births and not any(p.root is q.op for p in q.passes):
            yield q, births


Asked = list[tuple[Question, str, list[Cause]]]


def asked_about(module: Any, names: dict[str, Any]) -> Asked:
    """The causes of each leaf of a module, or (None) of the last pass; those of the run are the first leaf's."""
    questions = questions_about(module, names)
    again = asked_again(questions)
    asked = all_causes(again)
    known = {code_of(c) for _, _, causes in asked for c in causes}
    # the code after the model has not run again; of a run the recorder has seen what stands outside of the model
    others = questions_about(module, names, outside=True) if is_partial() else questions[:1] if again is not questions else []
    for q, name, causes in all_causes(others):
        more = [c for c in causes if code_of(c) not in known and (_is_of_run(c) or (is_partial() and code_of(c)))]
        asked += [(q, name, more)] if more else []
    questions = others or questions
    for root in other_roots(questions[0][0], names) if questions and not is_drawable(module) else ():
        known = {c.kind for _, _, causes in asked for c in causes}
        for q, name in questions_about(root, names)[:1]:
            more = [c for c in of_its_run(q) if c.kind not in known]
            asked += [(q, name, more)] if more else []
    return asked


def is_recorded(asked: Asked) -> bool:
    """Has a recorder seen the whole program, or is it one of ours?"""
    return any(q.history.is_recorded and q.history.is_whole for q, _, _ in asked)


def code_of(cause: Cause) -> str:
    """The number of the check that found it: "AV203"; "" if none did."""
    page = page_of(cause.kind)
    return "" if page is None else page[0].code


def explain_asked(asked: Asked, names: dict[str, Any]) -> Explanation:
    """The answer that the causes of several leaves make."""
    parts = [
        (q, [c for c in causes if _is_of_run(c) == of_run], not of_run) for of_run in (True, False) for q, _, causes in asked
    ]
    odd = [part for part in parts if _rank(part[1]) < RANKS[ASKED]]
    if not odd:
        is_zero_alone = all(q.state != "" for q, _, _ in asked)  # scores that are subtracted send nothing to their last bias
        stand_out = ("nan", "inf", "zero") if is_zero_alone else ("nan", "inf")
        odd_ones = (q for q, _, _ in asked if q.state in stand_out or (q.state == "zero" and q.tensor.ndim > 1))
        unknown = next((q for q in odd_ones if _is_unknown(q)), None)
        if unknown is not None:
            return Explanation(unknown, causes_of(unknown), names)
        said = {"count": str(len(asked))}
        kind = "no_error" if not asked else "all_fine" if is_recorded(asked) else "all_fine_unseen"
        return Explanation(None, [Cause(kind, said=said if asked else {})], {}, headed=False)
    odd.sort(key=lambda part: _rank(part[1]))
    q, causes, headed = odd[0]
    called = next(name for other, name, _ in asked if other is q)
    q = replace(q, name_of=lambda t: called if t is odd[0][0].tensor else odd[0][0].name_of(t))  # one in a list has that name
    causes = sorted((c for c in causes if _rank([c]) < RANKS[ASKED]), key=lambda c: _rank([c]))
    first = Explanation(q, causes, names, headed)
    others = [answer(q, causes[:1], headed, page_of).short.partition("\n")[0] for q, causes, headed in odd[1:]]
    first.details = "\n".join(dict.fromkeys([*filter(None, [first.details]), *map(printable, others)]))
    return first


def _is_bad(value: Any) -> bool:
    """Is it known to be nan or inf?"""
    try:
        return not math.isfinite(float(value.detach()))
    except Exception:  # it has no numbers, as one on the meta device
        return False


def _is_of_run(cause: Cause) -> bool:
    """Is it about the run, and not about one gradient?"""
    page = page_of(cause.kind)
    return page is not None and page[0].of_run


def _is_unknown(q: Question) -> bool:
    """Does the gradient of what is trained stand out, and nobody knows why? A scaler is there for nan and inf."""
    is_excused = (q.holders and not q.optimizers) or (q.is_scaled and q.state != "zero")
    return not is_excused and all(c.kind in NOT_SHOWN for c in causes_of(q))


CUT = "AV101"
NOT_SHOWN = (*UNKNOWN, "not_shown", "no_loss_here")
RANKS = {SO: 0, MAY: 1, ASKED: 2}


def _rank(causes: Sequence[Cause]) -> int:
    """How much one of them is a fault."""
    return min((RANKS[page[1]] for c in causes if (page := page_of(c.kind)) is not None), default=RANKS[ASKED])


def explain_tensor(tensor: Any, loss: Any, variables: dict[str, Any], is_recorded: bool = True) -> Explanation:
    """The answer about a tensor. `is_recorded`: False for a pass that is not the program's, which nothing has recorded."""
    with unseen(tensor):
        question = question_of(tensor, loss, variables, is_recorded, outside=False)
        again = asked_again([(question, "")])[0][0] if is_recorded else question
        causes = causes_of(again)
        is_open = again.state == "" or all(c.kind in NOT_SHOWN for c in causes)
        if is_open and again.is_leaf and loss is None and is_recorded and _rank(causes) == RANKS[ASKED]:
            outside = question_of(tensor, loss, variables)
            for q in (again, question, outside):  # the code after the model has not run again
                if of_run := _of_run(q):
                    return Explanation(q, of_run, variables)
        return Explanation(again, causes, variables)


def _of_run(own: Question) -> list[Cause]:
    """What is wrong with the pass that has reached a tensor, the surest first."""
    found = of_its_run(replace(own, is_thorough=True, look=lambda: own.facts))
    return sorted((c for c in found if _rank([c]) < RANKS[ASKED]), key=lambda c: _rank([c]))


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
    call = call_that_raised(error.__traceback__, names)
    causes = causes_of_error(about, str(error), "" if failing is None else failing.name(), line, call)
    ran = ran_before(error.__traceback__) if about is None and causes[0].kind in ("unknown_error", "error") else None
    if ran is not None:
        about = question_of(ran, ran, names)  # in the forward pass
    if ran is not None and about is not None and causes[0].kind == "unknown_error":
        op = about.op if source_of(about.op) is not None else None
        name = f"{plain_name(stem(ran.grad_fn.name()))}()" if op is None else spelling(op)
        causes = [cause_of("ran_before", op, op=name, shape=shape_text(tuple(ran.shape)))]
    return Explanation(about, causes, names, headed=False)
