"""An op as the user writes it."""

from __future__ import annotations

import ast

from ...graph.surroundings import Source
from .history import Event, Op

LONGEST = 40  # characters of an expression in a sentence
SYMBOLS = {
    "gt": "x > y", "lt": "x < y", "ge": "x >= y", "le": "x <= y", "eq": "x == y", "ne": "x != y", "setitem": "x[...] = y",
    "getitem": "x[...]", "select": "x[...]", "matmul": "x @ y", "rsub": "x - y", "sub": "x - y", "truediv": "x / y",
    "div": "x / y", "rdiv": "x / y", "add": "x + y", "mul": "x * y", "iadd": "x += y", "isub": "x -= y", "imul": "x *= y",
    "itruediv": "x /= y", "add_": "x += y", "sub_": "x -= y", "mul_": "x *= y", "div_": "x /= y", "data": ".data",
    "grad": "autograd.grad()",
}  # fmt: skip
OPERATORS = (ast.BinOp, ast.Compare, ast.Subscript, ast.AugAssign)


def plain(name: str) -> str:
    """An op by its name: `float()` for `__float__`, `x * y` for `mul`."""
    inner = name.strip("_") if name.startswith("__") else name
    return SYMBOLS.get(inner, f"{inner}()")


def spelled(op: Op | Event) -> str:
    """An operator as it stands in the user's code, `w * step`, if it is short; else as `plain`."""
    general = plain(op.name)
    is_operator = general.startswith("x") and "] =" not in general
    return (operator_at(op.source) if is_operator else "") or general


def operator_at(source: Source | None) -> str:
    """The code at a place if it is one operator with its operands, and short; else "". A call that computes inside is none."""
    code = "" if source is None else source.expression
    try:
        statements = ast.parse(code).body if len(code) <= LONGEST else []
    except SyntaxError:
        return ""
    found = statements[0] if len(statements) == 1 else None
    return code if isinstance(found.value if isinstance(found, ast.Expr) else found, OPERATORS) else ""
