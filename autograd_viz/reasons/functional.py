"""Lines of the user's code that let torch.func compute gradients, which returns them and keeps none in grad."""

from __future__ import annotations

import ast

from ..graph.model import Source
from .code import Statement, assignment, before_in_scope, statement_of
from .defined import origin

MODULES = ("torch.func", "functorch")
TRANSFORMS = ("grad", "grad_and_value", "vjp", "jacrev", "jacfwd", "hessian")


def is_functional(called: ast.expr) -> bool:
    """`torch.func.grad`, `jacrev` imported from there, and the like: they make functions that return gradients."""
    module, _, name = origin(called).rpartition(".")
    return module in MODULES and name in TRANSFORMS


def functional_line(name: str | None, here: Source | None) -> Source | None:
    """The last line above the question that had torch.func compute gradients with respect to this name."""
    asked = statement_of(here)
    if asked is None or name is None:
        return None
    above = [Statement(n) for n in before_in_scope(asked)]
    found = [s for s in above if any(_is_transformed(c, s) and _is_given(c, name, s) for c in _calls(s.node))]
    return found[-1].source if found else None


def _calls(node: ast.AST) -> list[ast.Call]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Call)]


def _is_transformed(call: ast.Call, statement: Statement) -> bool:
    """`grad(f)(w)`, `vjp(f, w)`, or `g(w)` after `g = grad(f)`."""
    made = assignment(call.func.id, statement) if isinstance(call.func, ast.Name) else None
    value = call.func if made is None else getattr(made.node, "value", None)
    is_made = isinstance(value, ast.Call) and any(is_functional(c.func) for c in _calls(value))
    return is_made or (is_functional(call.func) and len(call.args) > 1)


def _is_given(call: ast.Call, name: str, statement: Statement) -> bool:
    """One of its arguments is the name, or was made of what holds it: `params` of `dict(net.named_parameters())`."""
    names = [n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)]
    made = [s.node for n in names if (s := assignment(n, statement)) is not None]
    return name.partition(".")[0] in {*names, *(n.id for m in made for n in ast.walk(m) if isinstance(n, ast.Name))}
