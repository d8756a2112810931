"""Syntax trees of what has run: of a file, or of all the cells of a notebook, one under the other."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
import warnings
from bisect import bisect
from collections.abc import Iterator
from typing import NamedTuple

from ..graph.model import Source
from .cells import in_order

Part = tuple[str, tuple[str, ...]]  # a file, or a cell: its name and its lines


class Starts(NamedTuple):
    """Where the parts of a tree begin: their first lines in it, counted from 1, and their names."""

    lines: tuple[int, ...]
    files: tuple[str, ...]


def tree_of(file: str) -> ast.Module | None:
    """The syntax tree of a file that Python has run, of a cell with all that have run; None if it cannot be seen.

    Every node has what stands around it as `parent`.
    """
    cells = in_order()
    names = cells if file in cells else (file,)
    parts = tuple((name, tuple(linecache.getlines(name))) for name in names if _is_code(name))
    return _tree(parts) if any(lines for _, lines in parts) else None


def _is_code(file: str) -> bool:
    """Is it a file as Python runs them? A recording may name any; a device would never end."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return file in linecache.cache or ((file == main or file.endswith((".py", ".pyw"))) and os.path.isfile(file))


@functools.lru_cache(maxsize=64)
def _tree(parts: tuple[Part, ...]) -> ast.Module | None:
    readable = [(name, _readable(lines)) for name, lines in parts]
    parsed = _parsed("".join(code for _, code in readable))
    if parsed is None:
        return None
    first, lines = 1, []
    for _, code in readable:
        lines.append(first)
        first += code.count("\n")
    tree: ast.Module = _Named().visit(parsed)
    tree.starts = Starts(tuple(lines), tuple(name for name, _ in readable))  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return tree


class _Named(ast.NodeTransformer):
    """Writes `f = lambda x: x * 2` as the function that it is."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=args, body=body)):
                given_back = ast.Return(value=body)
                ast.copy_location(given_back, body)
                function = ast.FunctionDef(name=name, args=args, body=[given_back], decorator_list=[], returns=None)
                return ast.copy_location(function, node)
        return node


@functools.lru_cache(maxsize=256)
def _readable(lines: tuple[str, ...]) -> str:
    """The code of a part; where that is no Python, without lines that begin with % or ! (IPython's); else empty lines."""
    plain = ["\n" if line.lstrip()[:1] in ("%", "!") else line for line in lines]
    texts = [text if text.endswith("\n") else f"{text}\n" for text in ("".join(lines), "".join(plain))]
    return next((text for text in texts if _parsed(text) is not None), "\n" * texts[0].count("\n"))


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():  # which Python has given when the code ran
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def parents(node: ast.AST) -> Iterator[ast.AST]:
    """What stands around a node, innermost first."""
    while (node := getattr(node, "parent", None)) is not None:  # type: ignore[assignment]
        yield node


def module_of(node: ast.AST) -> ast.Module:
    """The tree that a node stands in."""
    outermost = [node, *parents(node)][-1]
    assert isinstance(outermost, ast.Module)
    return outermost


def place_of(node: ast.stmt) -> tuple[str, int]:
    """The file or cell of a statement, and its line there."""
    starts: Starts = module_of(node).starts  # type: ignore[attr-defined]
    part = bisect(starts.lines, node.lineno) - 1
    return starts.files[part], node.lineno - starts.lines[part] + 1


def line_in(tree: ast.Module, source: Source) -> int | None:
    """The line of a place in a tree; None if that is the tree of other code."""
    starts: Starts = tree.starts  # type: ignore[attr-defined]
    return starts.lines[starts.files.index(source.file)] + source.line - 1 if source.file in starts.files else None
