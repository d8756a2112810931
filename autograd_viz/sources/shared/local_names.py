"""Names inside functions: which names are local there, and what the operands of `a * b` are called."""

from __future__ import annotations

import ast
import functools
import linecache
from collections import defaultdict
from collections.abc import Container, Iterable

from ...graph.listing import parsed, parsed_expression
from ...graph.model import Op
from ...graph.surroundings import Source

OPERATORS = {"Add": ast.Add, "Sub": ast.Sub, "Mul": ast.Mult, "Div": ast.Div}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_local(name: str, source: Source) -> bool:
    """Is it a variable of the function around a place? A variable of the caller's with this name is then another one."""
    return bool(source.function) and name in _locals(tuple(linecache.getlines(source.file)), source.function, source.line)


@functools.lru_cache(maxsize=256)
def _locals(lines: tuple[str, ...], function: str, line: int) -> frozenset[str]:
    """The parameters of the innermost function around a line, and what it assigns to."""
    try:
        tree = parsed("".join(lines))
    except SyntaxError:
        return frozenset()
    around = [f for f in ast.walk(tree) if isinstance(f, FUNCTIONS) and f.lineno <= line <= (f.end_lineno or 0)]
    found = max(around, key=lambda f: f.lineno, default=None)
    if found is None or found.name != function:
        return frozenset()
    inside = [n for part in found.body for n in ast.walk(part)]
    shared = {name for n in inside if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    given = {n.arg for n in ast.walk(found.args) if isinstance(n, ast.arg)}
    return frozenset((given | {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}) - shared)


def names_by_operand(ops: Iterable[Op], named: Container[str], used: Container[str]) -> dict[str, str]:
    """Names of tensors that have none: `a * b` in a function names both operands, if each name means one tensor there.
    `named`: ids of tensors that have a name. `used`: names that mean something else in this graph.
    """
    of_name, of_tensor = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for op in ops:
        for operand, name in zip(op.inputs, _operands(op), strict=False):
            if operand.tensor is not None:
                of_name[name].add(operand.tensor)
                of_tensor[operand.tensor].add(name)
    return {
        tensor: name
        for tensor, names in of_tensor.items()
        for name in sorted(names)[:1]
        if len(names) == len(of_name[name]) == 1 and tensor not in named and name not in used
    }


def _operands(op: Op) -> tuple[str, ...]:
    """The two local variables that an op was given, by its code: `a` and `b` of `a * b`."""
    if op.source is None or op.name not in OPERATORS or [o.tensor is None for o in op.inputs] != [False, False]:
        return ()
    match parsed_expression(op.source.expression):
        case ast.BinOp(left=ast.Name(id=left), op=operator, right=ast.Name(id=right)):
            is_its = isinstance(operator, OPERATORS[op.name]) and is_local(left, op.source) and is_local(right, op.source)
            return (left, right) if is_its else ()
    return ()
