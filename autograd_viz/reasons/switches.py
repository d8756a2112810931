"""Lines of the user's code that switch a tensor's requires_grad off or on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..graph.model import Source
from .calls import ran_before
from .code import Statement, assignment, may_not_have_run, statement_of
from .lines import is_same
from .meant import Place
from .parsed import module_of


def switched_off_line(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that switches off the requires_grad of this name, or of `parameters()` it is among."""
    found, asked = _lines(name, here, to=False), statement_of(here)
    sure = [s for s in found if not may_not_have_run(s.node, asked)]
    return (sure or found)[-1].source if found else None


def switched_on_after(name: str | None, here: Source | None, reads: list[Statement]) -> Source | None:
    """The line that made a tensor require grad, if all statements that read it stand above that line.

    Args:
        name: the tensor.
        here: where the question was asked.
        reads: the statements that read it on the way to the loss.
    """
    found = _lines(name, here, to=True)
    if not found or not reads or name is None:
        return None
    on = found[-1]
    off = [s for s in _lines(name, here, to=False) if s.node.lineno < on.node.lineno]
    is_early = all(module_of(r.node) is module_of(on.node) and r.node.lineno < on.node.lineno for r in reads)
    return on.source if is_early and (off or _is_made_without(name, on)) else None


def _lines(name: str | None, here: Source | None, to: bool) -> list[Statement]:
    """What ran above the question and set the requires_grad of this name: statements, first to last."""
    asked = statement_of(here)
    if asked is None or name is None:
        return []
    return [p.statement for p in ran_before(asked) if any(is_same(t, name, p) for t in _switched(p, to))]


def _is_made_without(name: str, before: Statement) -> bool:
    """The statement that made it asked for no gradient."""
    made = assignment(name, before) if name.isidentifier() else None
    return made is not None and not any(w in ast.unparse(made.node) for w in ("requires_grad", "Parameter", "nn."))


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
