"""Numbers that are not finite, where the user's code writes them: `masked_fill(m, float("-inf"))`, `torch.full((2,), inf)`."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from ..graph.model import Source
from .changes import writes_into
from .code import Statement, scope_of, simple_statements, statement_of
from .slices import statements_behind

NAMES = ("inf", "nan")  # of math, NumPy and torch
PUT_INTO = {  # calls whose arguments become elements of tensors
    "masked_fill", "masked_fill_", "fill_", "full", "full_like", "new_full", "where", "tensor", "as_tensor", "index_fill",
    "index_fill_", "scatter", "scatter_", "pad", "new_tensor", "masked_scatter",
}  # fmt: skip


def written_behind(starts: list[Statement]) -> Source | None:
    """The line nearest to the loss that writes such a number into what the loss was made from.

    Args:
        starts: the statements that made the loss.
    """
    for statement in statements_behind(starts):
        for s in (statement, *_writing_into(statement)):
            if writes_infinity(s.node):
                return s.source
    return None


def written_at_place(source: Source | None) -> Source | None:
    """The line itself, if it writes such a number, or one that writes it into what the line made: `mask[0] = -inf`."""
    made = statement_of(source)
    found = [] if made is None else [s for s in (made, *_writing_into(made)) if writes_infinity(s.node)]
    return found[-1].source if found else None


def _writing_into(statement: Statement) -> Iterator[Statement]:
    """What writes in place into what a statement gives a name."""
    node = statement.node
    names = [t.id for t in node.targets if isinstance(t, ast.Name)] if isinstance(node, ast.Assign) else []
    if names:
        simple = simple_statements(scope_of(node))
        yield from (Statement(n) for n in simple if n.lineno > node.lineno and any(writes_into(n, name) for name in names))


def writes_infinity(node: ast.stmt) -> bool:
    """It puts inf or nan among the elements of a tensor, or gives it a name."""
    return any(_is_infinite(n) and _becomes_element(n) for n in ast.walk(node))


def _is_infinite(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=float() as value):
            return not math.isfinite(value)
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return attr in NAMES
        case ast.Name(id=name, ctx=ast.Load()):
            return name in NAMES
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
            return _is_infinite_text(text)
    return False


def _is_infinite_text(text: str) -> bool:
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def _becomes_element(node: ast.AST) -> bool:
    """It is not what others are compared with, nor the order of a norm, nor a bound."""
    while True:
        above = getattr(node, "parent", None)
        match above:
            case ast.UnaryOp() | ast.List() | ast.Tuple() | ast.keyword() | ast.ListComp() | ast.IfExp():
                node = above
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                return name in PUT_INTO
            case _:
                return isinstance(above, ast.BinOp | ast.Assign | ast.AugAssign | ast.AnnAssign)
