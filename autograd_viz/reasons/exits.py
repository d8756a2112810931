"""Statements behind which the next ones of their block may not have run: `break`, `continue`, what may fail inside of `try`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .parsed import parents

BLOCKS = ("body", "orelse", "finalbody")
LOOPS = ast.For | ast.AsyncFor | ast.While
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def is_left_before(node: ast.AST, around: list[ast.AST]) -> bool:
    """Above it in its blocks stands what may have left them, and the question does not stand in them too.

    Args:
        node: a statement, or a part of one.
        around: the question, and all that it stands in.
    """
    inside = node
    for p in parents(node):
        for block in (b for name in BLOCKS if isinstance(b := getattr(p, name, None), list)):
            if inside in block and not any(n in block for n in around):
                above = block[: block.index(inside)]
                if any(_leaves(s) for s in above) or (above and _goes_on_after_errors(p, block)):
                    return True
        inside = p
    return False


def may_have_raised(node: ast.AST, asked: ast.AST | None) -> bool:
    """It stands in a `try` that goes on with something else after an error, and the question does not."""
    around = [] if asked is None else [asked, *parents(asked)]
    inside = node
    for p in parents(node):
        if isinstance(p, ast.Try) and p not in around and inside in p.body and any(not _ends(h) for h in p.handlers):
            return True
        inside = p
    return False


def _ends(handler: ast.ExceptHandler) -> bool:
    """Behind it nothing of what follows runs: it raises, or leaves the loop; or somebody has stopped it all."""
    is_stopped = isinstance(handler.type, ast.Name) and handler.type.id == "KeyboardInterrupt"
    return is_stopped or isinstance(handler.body[-1], ast.Raise | ast.Continue | ast.Break)


def _leaves(statement: ast.stmt) -> bool:
    """It holds a `break` or `continue` of the loop in which it stands."""
    return any(isinstance(n, ast.Break | ast.Continue) for n in _own(statement))


def _own(statement: ast.AST) -> Iterator[ast.AST]:
    """The statement and what is in it, but for loops and functions of its own."""
    stack = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, LOOPS | SCOPES):
            stack += ast.iter_child_nodes(node)


def _goes_on_after_errors(around: ast.AST, block: list[ast.stmt]) -> bool:
    """The block may end with an error that is not seen outside: in `try`, or with `suppress(...)`."""
    match around:
        case ast.Try(body=body, handlers=[_, *_] as handlers) if body is block:
            return not all(isinstance(h.type, ast.Name) and h.type.id == "KeyboardInterrupt" for h in handlers)
        case ast.With(items=items):
            return any(isinstance(n, ast.Name | ast.Attribute) and _ends_in_suppress(n) for i in items for n in ast.walk(i))
    return False


def _ends_in_suppress(called: ast.Name | ast.Attribute) -> bool:
    return (called.id if isinstance(called, ast.Name) else called.attr) == "suppress"
