"""Lines of the user's code that switch a tensor's requires_grad off or on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..graph.model import Source
from .calls import ran_before
from .code import Statement, assignment, is_given_between, position, scope_of, statement_of
from .defined import origin
from .holders import is_same
from .meant import Place
from .parsed import module_of


def switched_off_line(name: str | None, here: Source | None, is_off: bool = False) -> Source | None:
    """The last line above the question that switches off the requires_grad of this name, or of `parameters()` it is among.

    Args:
        name: the tensor's.
        here: where the question was asked.
        is_off: it is known that one did: the only one that may have.
    """
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    off, on = ([p for p in _places(name, asked, to=to) if not _is_renamed(p, name, asked)] for to in (False, True))
    sure = [p for p in off if not p.may_not_have_run(asked)]
    undone = [p for p in on if not p.may_not_have_run(asked)]
    if sure and not any(_is_before(sure[-1], p) for p in undone):
        return sure[-1].statement.source
    open_ = [p for p in off if p not in sure and not any(_is_before(p, u) for u in undone)]
    return open_[0].statement.source if is_off and len(open_) == 1 else None


def _is_renamed(place: Place, name: str, asked: Statement) -> bool:
    """The name has another value since."""
    return is_given_between(name, place.statement.node, asked)


def _is_before(place: Place, other: Place) -> bool:
    return (position(place.outermost.node), position(place.statement.node)) < (
        position(other.outermost.node),
        position(other.statement.node),
    )


def switched_on_after(name: str | None, here: Source | None, reads: list[Statement]) -> tuple[Source, bool] | None:
    """The line that made a tensor require grad, if all statements that read it stand above that line, and whether the code
    shows that it did not before.

    Args:
        name: the tensor.
        here: where the question was asked.
        reads: the statements that read it on the way to the loss.
    """
    asked = statement_of(here)
    found = [] if asked is None or name is None else _places(name, asked, to=True)
    if not found or not reads or asked is None or name is None:
        return None
    on, line = found[-1].statement, found[-1].outermost.node
    off = [p for p in _places(name, asked, to=False) if position(p.outermost.node) < position(line)]
    is_early = all(scope_of(r.node) is scope_of(line) and position(r.node) < position(line) for r in reads)
    return (on.source, bool(off) or _is_made_without(name, on)) if is_early else None


def switches_on(here: Source | None) -> bool:
    """Somewhere in the code of the question a tensor is made to require grad that did not before."""
    asked = statement_of(here)
    places = [] if asked is None else [n for n in ast.walk(module_of(asked.node)) if isinstance(n, ast.Assign | ast.Expr)]
    return any(not _makes(n) and any(_switched(Place(Statement(n), None), to=True)) for n in places)


def _makes(node: ast.stmt) -> bool:
    """`w = torch.ones(2, requires_grad=True)`, `w = torch.ones(2).requires_grad_()`: what is made so is not switched later."""
    return isinstance(node, ast.Assign) and not all(getattr(t, "attr", "") == "requires_grad" for t in node.targets)


def _places(name: str, asked: Statement, to: bool) -> list[Place]:
    """What ran above the question and set the requires_grad of this name, first to last."""
    return [p for p in ran_before(asked) if any(is_same(t, name, p) for t in _switched(p, to))]


def _is_made_without(name: str, before: Statement) -> bool:
    """The statement that made it asked for no gradient."""
    made = assignment(name, before) if name.isidentifier() else None
    return made is not None and not any(_may_ask(n) for n in ast.walk(made.node))


def _may_ask(node: ast.AST) -> bool:
    """`requires_grad=True`, `Parameter(...)`, a module of torch.nn, a method that sets it."""
    if isinstance(node, ast.keyword):
        return node.arg == "requires_grad"
    parts = origin(node.func).split(".") if isinstance(node, ast.Call) else []
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"
    return is_method or "nn" in parts or "Parameter" in parts[-1:]


def _switched(place: Place, to: bool) -> Iterator[ast.expr]:
    """The expressions whose requires_grad a statement sets to this."""
    node = place.statement.node
    if isinstance(node, ast.Assign) and _truth(node.value, place) is to:
        yield from (t.value for t in node.targets if isinstance(t, ast.Attribute) and t.attr == "requires_grad")
    if isinstance(node, ast.Assign) and (_switches(node.value, place) is to or _is_made_so(node.value, to)):
        yield from node.targets
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and _switches(n, place) is to:
            yield n.func.value


def _truth(value: ast.expr, place: Place) -> bool | None:
    """True or False as they are written, here or in the call of the function that was given them."""
    given = place.parameter(value.id) if isinstance(value, ast.Name) else None
    value = value if given is None else given[0]
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None


def _is_made_so(node: ast.expr, to: bool) -> bool:
    """`Parameter(x, requires_grad=False)`."""
    wishes = [k.value for k in node.keywords if k.arg == "requires_grad"] if isinstance(node, ast.Call) else []
    return any(isinstance(w, ast.Constant) and w.value is to for w in wishes)


def _switches(node: ast.AST, place: Place) -> bool | None:
    """`x.requires_grad_(False)` switches to False, `x.requires_grad_()` to True; None for what is no such call."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_"):
        return None
    given = [*node.args, *(k.value for k in node.keywords)]
    if not given:
        return True
    return _truth(given[0], place)
