"""The user's code, read: statements, scopes, and where a name got its value."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from typing import NamedTuple

from ..graph.model import Source

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Statement(NamedTuple):
    """A statement and the file that it stands in."""

    file: str
    node: ast.stmt

    def assigns(self, name: str) -> bool:
        """It gives `name` a new value."""
        return name in targets(self.node)

    def hides_leaf(self, name: str) -> bool:
        """It gives `name` a value computed from what `name` was before, or from a tensor that is made in it to require grad."""
        reads = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(self.node))
        makes = any(isinstance(n, ast.keyword) and n.arg == "requires_grad" for n in ast.walk(self.node))
        return self.assigns(name) and (reads or makes)

    @property
    def source(self) -> Source:
        """Its place."""
        n = self.node
        text = linecache.getline(self.file, n.lineno).rstrip("\n")
        return Source(self.file, n.lineno, n.lineno, n.col_offset, len(text), text)


@functools.lru_cache(maxsize=64)
def _tree(lines: tuple[str, ...]) -> ast.Module | None:
    """The file with every node's parent as `parent`; lines with % or ! (IPython's) count as empty."""
    text = "".join("\n" if line.lstrip()[:1] in ("%", "!") else line for line in lines)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return tree


def tree_of(file: str) -> ast.Module | None:
    """The syntax tree of a file that Python has run; None if it cannot be seen."""
    lines = tuple(linecache.getlines(file))
    return _tree(lines) if lines else None


def statement_of(source: Source | None) -> Statement | None:
    """The innermost statement around a place."""
    tree = None if source is None else tree_of(source.file)
    if source is None or tree is None:
        return None
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= source.line <= (n.end_lineno or n.lineno)]
    return Statement(source.file, max(around, key=lambda n: (n.lineno, n.col_offset))) if around else None


def targets(node: ast.stmt) -> set[str]:
    """The names that a statement gives a value."""
    if isinstance(node, ast.Assign):
        found: list[ast.expr] = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        found = [node.target]
    elif isinstance(node, ast.With):
        found = [i.optional_vars for i in node.items if i.optional_vars is not None]
    else:
        found = []
    return {n.id for t in found for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def parents(node: ast.AST) -> Iterator[ast.AST]:
    """What stands around a node, innermost first."""
    while (node := getattr(node, "parent", None)) is not None:  # type: ignore[assignment]
        yield node


def scope_of(node: ast.AST) -> ast.AST:
    """The function (or module) that a node stands in."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module
    return next((p for p in parents(node) if isinstance(p, kinds)), node)


def assignment(name: str, before: Statement, within: bool = False) -> Statement | None:
    """The last statement above `before` (else the last of all) in its scope, or around it, that gives `name` a value.

    Args:
        name: the name.
        before: where it is read.
        within: look in its own scope only.
    """
    scope: ast.AST = scope_of(before.node)
    while True:
        found = [n for n in _assigned_in(scope).get(name, ()) if n is not before.node]
        above = [n for n in found if n.lineno < before.node.lineno]
        if found:
            last = max(above or found, key=lambda n: n.lineno)
            return None if _is_one_of_two(last, found) else Statement(before.file, last)
        if isinstance(scope, ast.Module) or within or name in _parameters(scope):
            return None
        scope = scope_of(scope)


def _is_one_of_two(node: ast.stmt, others: list[ast.stmt]) -> bool:
    """The other branch of an `if` gives the name a value too: the code does not say which of them ran."""
    for p in parents(node):
        if isinstance(p, ast.If):
            branches = ({n for b in part for n in ast.walk(b)} for part in (p.body, p.orelse))
            if all(not branch.isdisjoint(others) for branch in branches):
                return True
    return False


@functools.lru_cache(maxsize=1024)
def _assigned_in(scope: ast.AST) -> dict[str, list[ast.stmt]]:
    """The statements of a scope that give each name a value."""
    found: dict[str, list[ast.stmt]] = {}
    for n in ast.walk(scope):
        if isinstance(n, ast.stmt) and scope_of(n) is scope:
            for name in targets(n):
                found.setdefault(name, []).append(n)
    return found


def _parameters(function: ast.AST) -> set[str]:
    """The names of what a function is given."""
    a = getattr(function, "args", None)
    given = () if a is None else (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
    return {p.arg for p in given if p is not None}


def alias_of(name: str | None, here: Source | None) -> str | None:
    """What a name was given as another name for, above the question: "model.weight" after `q = model.weight`."""
    asked = statement_of(here)
    made = assignment(name, asked) if asked is not None and name is not None and name.isidentifier() else None
    value = getattr(made.node, "value", None) if made is not None else None
    return ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute | ast.Subscript) else None
