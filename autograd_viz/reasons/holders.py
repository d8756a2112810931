"""What an optimizer, a module or the variable of a loop holds, as far as the code says."""

from __future__ import annotations

import ast
import re

from .code import Statement, assignment
from .defined import origin
from .meant import DEPTH, SAME, Place, covers, path_of
from .parsed import parents

PART = re.compile(r"\[['\"]?(\w+)['\"]?\]")  # a part of a Sequential or a ModuleDict, which parameters write with a dot
OF_MODULES = ("parameters", "named_parameters")


def is_same(expression: ast.expr | None, name: str, place: Place | None = None) -> bool:
    """`lin.weight` is itself, a part of `lin`, and one of the p in `for p in lin.parameters()`; None stands for everything.

    Args:
        expression: what is read.
        name: what is asked about.
        place: where it is read, if that may be in a called function.
    """
    if expression is None:
        return True
    while isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and expression.func.attr in SAME:
        expression = expression.func.value
    loop = _loop_of(expression)
    match loop and loop.iter:
        case ast.Call(func=ast.Attribute(value=of, attr=attr)) if attr in OF_MODULES:
            expression = of
    text = PART.sub(r".\1", ast.unparse(expression) if place is None else path_of(expression, place))
    return covers(text, name)


def holds(expression: ast.expr, name: str) -> bool | None:
    """Is that expression the tensor of this name? None for the variable of a loop through nobody knows what."""
    loop = _loop_of(expression)
    return is_same(expression, name) if loop is None else goes_through(loop.iter, name, Statement(loop))


def goes_through(iterable: ast.expr, name: str, before: Statement) -> bool | None:
    """Is the tensor of this name among them? None if nobody knows."""
    for _ in range(DEPTH):
        match iterable:
            case ast.Call(func=ast.Name(id="list" | "tuple" | "enumerate" | "reversed"), args=[inner, *_]):
                iterable = inner
            case ast.Call(func=ast.Attribute(value=of, attr=attr)) if attr in OF_MODULES:
                return is_same(of, name)
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                return _is_among(elts, name)
            case ast.Name(id=variable):
                made = assignment(variable, before)
                given = None if made is None else getattr(made.node, "value", None)
                if made is None or given is None:
                    return True if variable == name else None
                iterable, before = given, made
            case _:
                return None
    return None


def _is_among(elements: list[ast.expr], name: str) -> bool | None:
    """None where one of them stands for several (`*net.parameters()`), or was computed."""
    if any(is_same(e.value if isinstance(e, ast.Starred) else e, name) for e in elements):
        return True
    starred = [e.value for e in elements if isinstance(e, ast.Starred)]
    owners = [e.func.value for e in starred if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute)]
    if any(is_same(o, name) for o in owners):
        return True
    is_plain = all(isinstance(e, ast.Name | ast.Attribute | ast.Starred) for e in elements)
    return False if is_plain and len(owners) == len(starred) else None


def _loop_of(expression: ast.expr) -> ast.For | None:
    """The loop whose variable it is."""
    if not isinstance(expression, ast.Name):
        return None
    loops = (p for p in parents(expression) if isinstance(p, ast.For))
    return next((p for p in loops if expression.id in {n.id for n in ast.walk(p.target) if isinstance(n, ast.Name)}), None)


# -- optimizers -------------------------------------------------------------------------------------------------------


def is_optimizer(owner: ast.expr, before: Statement) -> bool:
    """By what it was made of, or else by its name; a scheduler, which is made of an optimizer, is none."""
    made = _made_by(owner, before)
    if made is None or _says_optimizer(owner):
        return _says_optimizer(owner)
    first = [*made.args[:1], *(k.value for k in made.keywords if k.arg == "optimizer")]
    return _makes_optimizer(made) and not any((inner := _made_by(e, before)) and _makes_optimizer(inner) for e in first)


def _makes_optimizer(made: ast.Call) -> bool:
    is_known = "optim" in origin(made.func).split(".") or _says_optimizer(made.func)
    return is_known or any(_gives_parameters(n) for n in ast.walk(made))


def may_hold(owner: ast.expr, name: str, before: Statement) -> bool:
    """An optimizer or a module may hold a tensor; those that were made of other parameters do not."""
    made = _made_by(owner, before)
    given = [n.func.value for n in ast.walk(made) if _gives_parameters(n)] if made is not None else []  # type: ignore[attr-defined]
    if given:
        return any(is_same(h, name) for h in given)
    first = made.args[0] if made is not None and made.args else None
    if isinstance(first, ast.List | ast.Tuple) and all(isinstance(e, ast.Name | ast.Attribute) for e in first.elts):
        return any(is_same(e, name) for e in first.elts)
    return made is None or is_optimizer(owner, before) or is_same(owner, name)


def _made_by(owner: ast.expr, before: Statement) -> ast.Call | None:
    """The call that a variable was given the result of."""
    made = assignment(owner.id, before) if isinstance(owner, ast.Name) else None
    given = getattr(made.node, "value", None) if made is not None else None
    match made and made.node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if isinstance(owner, ast.Name):
            given = next(
                (v for t, v in zip(targets, values, strict=False) if isinstance(t, ast.Name) and t.id == owner.id), None
            )
    return given if isinstance(given, ast.Call) else None


def _says_optimizer(called: ast.expr) -> bool:
    """It is called so: opt, self.optimizer, make_optimizer."""
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return "opt" in name.lower()


def _gives_parameters(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"
