"""Cuts in functions of which the code does not show when they are called: lambdas that are handed on, hooks, what a function
returns. Whether the way to the loss went through them, only who follows the forward pass knows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..graph.model import Source
from .code import Function, Statement, position, scope_of, statement_of
from .cutting import called_name, cuts_in
from .looks import is_for_look
from .parsed import module_of, parents

HOWS = ("detach", "data", "no_grad", "inference", "item", "numpy", "sample")
MOST = 3
FOR_PEOPLE = {"print", "log", "info", "debug", "warning", "format", "set_postfix", "set_description", "write", "add_scalar"}


class Candidate(NamedTuple):
    """A line, and the words in it that cut."""

    what: str
    source: Source


def candidates(here: Source | None) -> list[Candidate]:
    """The first such lines of the file (or of the cells) in which the question stands."""
    asked = statement_of(here)
    found: dict[tuple[str, int], Candidate] = {}
    for statement in () if asked is None else _statements(asked):
        for part, cut in cuts_in(statement):
            if cut.how in HOWS and _goes_on(part, statement) and _is_called_unseen(part) and not _is_only_kept(statement):
                found.setdefault((cut.source.file, cut.source.line), Candidate(cut.what, cut.source))
    return list(found.values())[:MOST]


def _statements(asked: Statement) -> Iterator[Statement]:
    """All that hold no others, in the order of their lines, but for those behind the question."""
    scope, tree = scope_of(asked.node), module_of(asked.node)
    simple = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and not hasattr(n, "body") and n is not asked.node]
    for n in sorted(simple, key=position):
        if scope_of(n) is not scope or position(n) < position(asked.node):
            yield Statement(n)


def _goes_on(part: ast.AST, statement: Statement) -> bool:
    """What the part gives may be computed with: it is not for people to read, and no step of an optimizer."""
    if part is statement.node and isinstance(part, ast.Expr):  # a mode around what gives nothing
        return False
    around = [n for n in [part, *parents(part)] if isinstance(n, ast.expr)]
    is_read = any(isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Call) and called_name(n) in FOR_PEOPLE) for n in around)
    is_look = isinstance(part, ast.expr) and is_for_look(part)
    is_step = any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in ast.walk(statement.node))
    return not (is_read or is_look or is_step)


def _is_only_kept(statement: Statement) -> bool:
    """What it makes goes into a list or a dict that nothing reads: `log["aux"] = aux.detach()`, `losses.append(l.item())`."""
    match statement.node:
        case ast.Assign(targets=[ast.Subscript(value=kept)]):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr="append" | "extend" | "add"))):
            pass
        case _:
            return False
    name = ast.unparse(kept).rpartition(".")[2]
    names = (n for n in ast.walk(module_of(statement.node)) if isinstance(n, ast.Name | ast.Attribute))
    reads = [n for n in names if (n.id if isinstance(n, ast.Name) else n.attr) == name and isinstance(n.ctx, ast.Load)]
    return all(_is_written(n) for n in reads)


def _is_written(node: ast.AST) -> bool:
    """Something is put into it."""
    match getattr(node, "parent", None):
        case ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Attribute(attr="append" | "extend" | "add" | "clear"):
            return True
    return False


def _is_called_unseen(part: ast.AST) -> bool:
    """It stands in a lambda, or in a function that is decorated or whose name is read where it is not called."""
    functions = [p for p in (part, *parents(part)) if isinstance(p, ast.Lambda | Function)]
    return any(isinstance(p, ast.Lambda) or p.decorator_list or _is_handed_on(p) for p in functions)


def _is_handed_on(function: Function) -> bool:
    names = (n for n in ast.walk(module_of(function)) if isinstance(n, ast.Name | ast.Attribute))
    reads = (n for n in names if (n.id if isinstance(n, ast.Name) else n.attr) == function.name)
    return any(not (isinstance(above := getattr(n, "parent", None), ast.Call) and above.func is n) for n in reads)
