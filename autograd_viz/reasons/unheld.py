"""Which pass made a grad: the code may say that it did not begin at the loss that the variables lead to."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..graph.model import Source
from .backward_lines import is_started_from, last_backward, may_have_kept, roots_of_passes, started_at
from .cause import Cause
from .code import Statement, assignment, may_not_have_run, position, statement_of
from .cuts import loss_names
from .facts import Facts
from .grad_lines import last_clearing

# methods that make no zeros, nan or inf
LINEAR = ("sum", "mean", "scale", "squeeze", "reshape", "view", "to", "float", "double")
# causes that tell of the way from the loss on, and are guesses if the pass began beyond it
GUESSES = (
    "zero_start", "zero_only", "zero_unknown", "zero_no_suspect", "bad_start", "bad_unknown", "grew", "grew_steadily",
    "grew_between", "huge", "shrank", "shrank_steadily", "shrank_between", "tiny",
)  # fmt: skip
# what the code, or what stands in grad, tells whatever the pass was
SURE = ("zeroed_by", "zeroed_at", "zeroed", "bad_since", "bad_clipped", "diverged", "graph_gone")


class Unheld(NamedTuple):
    """A pass whose root no variable holds.

    Attributes:
        source: the line that ran it.
        is_other: what is taken for the loss was made after it; else it is on the way from the root.
    """

    source: Source | None
    is_other: bool


def no_graph(f: Facts, what: str | None = None) -> Cause:
    """No variable holds the graph: by the line of the pass, if that reads the subject.

    Args:
        f: the facts.
        what: "nan" or "inf", if grad holds it.
    """
    asked, grad = statement_of(f.here), f.subject.grad
    if grad is not None and {*grad.numbers} == {1.0} and is_started_from(f.subject.name, f.here):
        return Cause("is_root", (f.subject.id,))
    ran = None if asked is None else last_backward(asked)
    root = None if ran is None or may_not_have_run(ran, asked) else started_at(ran)
    names = {n.id for n in ast.walk(root) if isinstance(n, ast.Name)} if root is not None else set()
    is_read = isinstance(root, ast.Call | ast.BinOp) and (f.subject.name or "").partition(".")[0] in names
    said = {} if what is None else {"what": what}
    if ran is None or not is_read:
        return Cause("no_graph", (f.subject.id,), said=said)
    return Cause("no_graph_of", (f.subject.id,), source=Statement(ran).source, said=said)


def losses_of_passes(f: Facts) -> tuple[str, ...]:
    """The losses on which the code above the question ran a pass; all if none is known for that."""
    asked = statement_of(f.here)
    if asked is not None and f.loss and not f.is_connected and _reads_subject(f, asked):
        return ()
    names = set() if asked is None else roots_of_passes(asked, since=last_clearing(f.subject.name, asked))
    return tuple(id for id in f.loss if f.tensors[id].name in names) or f.loss


def other_roots(f: Facts) -> set[str]:
    """The names, beside those of the losses, that passes since the last clearing of the subject's grad started from.

    Where no loss is named, those of variables that are still there lead elsewhere, or they would be among the losses.
    """
    asked = statement_of(f.here)
    since = None if asked is None else last_clearing(f.subject.name, asked)
    names = set() if asked is None else roots_of_passes(asked, since, sure=True)
    elsewhere = set() if _names_a_loss(asked) else {*f.live.requiring()}
    own = {f.tensors[id].name for id in f.loss}
    is_beyond = _names_a_loss(asked) and not names & own  # as where the pass began at a sum of losses
    return names - elsewhere - own if len(names) > 1 or is_beyond else set()


def _names_a_loss(asked: Statement | None) -> bool:
    """`explain(w, loss)`."""
    calls = [n for n in ast.walk(asked.node) if isinstance(n, ast.Call)] if asked is not None else []
    named = [c for c in calls if ast.unparse(c.func).rpartition(".")[2] == "explain"]
    return any(len(c.args) > 1 or c.keywords for c in named)


def is_unpassed(f: Facts) -> bool:
    """No pass has gone through the graphs of the losses: their saved tensors are there, and no code asks to keep them."""
    asked, names = statement_of(f.here), {f.tensors[id].name for id in f.loss}
    if asked is None or not f.loss or f.may_have_run or f.live.passes():
        return False
    own = {t.name for t in f.tensors.values() if t.name}
    return names.isdisjoint(roots_of_passes(asked)) and not may_have_kept(f.here, own)


def _reads_subject(f: Facts, asked: Statement) -> bool:
    """The last pass began at an expression that no variable holds, and that reads the subject: `(1 / k).sum().backward()`."""
    ran = last_backward(asked)
    root = None if ran is None or may_not_have_run(ran, asked) else started_at(ran)
    if f.subject.grad is None or not isinstance(root, ast.Call | ast.BinOp):
        return False
    return (f.subject.name or "").partition(".")[0] in {n.id for n in ast.walk(root) if isinstance(n, ast.Name)}


def without_guesses(f: Facts, found: list[Cause], of_size: bool = False) -> list[Cause]:
    """What was found, but for what only a pass from the loss would prove, if the pass began elsewhere.

    Args:
        f: the facts.
        found: the causes.
        of_size: of a gradient that is huge or tiny, which `(loss * 1e6).backward()` may explain.
    """
    pass_ = _unheld(f, of_size)
    if pass_ is None:
        return found
    doubtful = [c for c in found if (c.kind not in SURE if pass_.is_other else c.kind in GUESSES)]
    own = Cause("other_pass" if pass_.is_other else "beyond", f.loss, source=pass_.source, said={"root": loss_names(f)})
    return [own, *(c for c in found if c not in doubtful)] if doubtful else found


def _unheld(f: Facts, of_size: bool) -> Unheld | None:
    """The last pass, if its root is known not to be a loss of the question."""
    if any(f.live.was_stepped(node) for node, _ in f.starts):
        return None
    if passes := f.live.passes():  # the graph remembers
        return Unheld(None, False) if not any(p.root for p in passes) else None
    asked = statement_of(f.here)
    ran = None if asked is None else last_backward(asked)
    if asked is None or ran is None or not f.loss or position(ran) >= position(asked.node) or may_not_have_run(ran, asked):
        return None
    root = started_at(ran)
    names = {f.tensors[id].name for id in f.loss}
    while not of_size and root is not None and ast.unparse(root) not in names and (inner := _without_linear(root)) is not None:
        root = inner
    if isinstance(root, ast.BinOp) and not of_size and _is_sum_of(root, names):
        return None
    if isinstance(root, ast.Name):
        return _of_name(root.id, names, asked, Statement(ran))
    is_computed = isinstance(root, ast.Call | ast.BinOp) and ast.unparse(root) not in names
    return Unheld(Statement(ran).source, False) if is_computed else None


def _is_sum_of(root: ast.expr, names: set[str | None]) -> bool:
    """`a + b`, `a - 2 * b`, of what is held."""
    while ast.unparse(root) not in names and (inner := _without_linear(root)) is not None:
        root = inner
    match root:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return _is_sum_of(left, names) and _is_sum_of(right, names)
    return ast.unparse(root) in names


def _of_name(name: str, names: set[str | None], asked: Statement, ran: Statement) -> Unheld | None:
    """The name has another value since, a number or a new loss."""
    given, before = assignment(name, asked), assignment(name, ran)
    if given is None or position(given.node) < position(ran.node):
        return None
    is_alias = before is not None and isinstance(getattr(before.node, "value", None), ast.Name)
    return Unheld(ran.source, True) if name in names else None if is_alias else Unheld(ran.source, False)


def _without_linear(root: ast.expr) -> ast.expr | None:
    """What the root was made of by something that tells nothing: `loss.mean()`, `scaler.scale(loss)`, `loss / 4`, `-loss`."""
    match root:
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.expr() as inner]) if name == "scale":
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in LINEAR:
            return inner
        case ast.BinOp(op=ast.Div(), left=inner) | ast.UnaryOp(op=ast.USub(), operand=inner):
            return inner
        case ast.BinOp(op=ast.Mult(), left=inner, right=ast.Constant(value=n)) if n:
            return inner
        case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=n), right=inner) if n:
            return inner
    return None
