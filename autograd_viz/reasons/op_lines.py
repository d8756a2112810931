"""The lines of ops that nobody has seen run: where the code that made the loss has the op once, or gives its result a name."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ..graph.model import Op, Source
from .code import Statement, assignment, may_not_have_run, scope_of, statement_of
from .cutting import called_name, mode_around
from .expressions import lines_of_ops
from .facts import Facts
from .flow import Flow, flow_to
from .loss_code import reads_of_loss, statements_of_loss
from .op_names import is_op, names_of
from .parsed import parents
from .slices import statements_behind

MOST = 2000  # ops; of larger graphs no lines are looked for


def with_lines(f: Facts) -> Facts:
    """The same, with the lines that the code tells of reconstructed ops."""
    unknown = [op for op in f.document.ops if op.reconstructed and op.source is None and op.node in f.passed]
    if not unknown or len(f.document.ops) > MOST:
        return f
    found = {op.id: line for op in unknown if (line := _named_line(f, op)) is not None}
    flow = flow_to(reads_of_loss(f))
    if flow is not None:
        found |= _lines_of_calls(f, flow, [op for op in unknown if op.id not in found])
        found |= lines_of_ops(f, flow, [op for op in unknown if op.id not in found])
    if not found:
        return f
    ops = tuple(replace(op, source=found.get(op.id, op.source)) for op in f.document.ops)
    return Facts(replace(f.document, ops=ops), f.subject.id, f.past, f.live, f.loss, f.here)


def _named_line(f: Facts, op: Op) -> Source | None:
    """`n = a / b`, where n is the result of the op, and the division is the last that the line does."""
    asked, names = statement_of(f.here), [f.tensors[o].name for o in op.outputs if o is not None]
    made = assignment(names[0], asked) if asked is not None and names[:1] and names[0] and names[0].isidentifier() else None
    if made is None or may_not_have_run(made.node, asked) or mode_around(made.node) is not None:
        return None
    value = made.node if isinstance(made.node, ast.AugAssign) else getattr(made.node, "value", None)
    return made.source if value is not None and is_op(value, op.name) else None


def _lines_of_calls(f: Facts, flow: Flow, ops: list[Op]) -> dict[str, Source]:
    """Of each op that the graph has once the line, if the code that made the loss calls it once, and not in a loop."""
    counts = Counter(op.name for op in f.document.ops)
    single = {op.name: op for op in ops if counts[op.name] == 1}
    calls: dict[str, list[tuple[Statement, ast.AST]]] = {}
    for statement in dict.fromkeys(statements_behind(statements_of_loss(f))) if single else ():
        for called, part in _called_in(statement.node):
            for name in single:
                if called in names_of(name) and flow.is_read_in(part):
                    calls.setdefault(name, []).append((statement, part))
    asked, once = statement_of(f.here), {name: made[0] for name, made in calls.items() if len(made) == 1}
    return {
        single[name].id: made.source_of(part)
        for name, (made, part) in once.items()
        if not may_not_have_run(made.node, asked) and not _is_repeated(made.node)
    }


def _called_in(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """The last parts of the names of what a statement calls, and where."""
    for n in ast.walk(node):
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow):
            yield "pow", n
        elif isinstance(n, ast.Call):
            is_variable = isinstance(n.func, ast.Name) and assignment(n.func.id, Statement(node)) is not None  # t = Net()
            yield "" if is_variable else called_name(n).rstrip("_"), n


def _is_repeated(node: ast.stmt) -> bool:
    scope = scope_of(node)
    return any(isinstance(p, ast.For | ast.AsyncFor | ast.While) and scope_of(p) is scope for p in parents(node))
