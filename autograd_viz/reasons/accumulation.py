"""A loop of passes in code that never clears a grad: what the passes brought adds up, where no graph remembers it."""

from __future__ import annotations

import ast

from .backward_lines import backward_line
from .cause import Cause
from .code import is_given_within, statement_of
from .facts import Facts
from .parsed import module_of, parents

CLEARS = ("zero_grad", "zero_", "clear_grad", "grad")  # called on a grad or an optimizer, or given a value


def never_cleared(f: Facts) -> list[Cause]:
    """The pass stands in a loop, nothing in the file clears a grad, and nobody knows what other passes brought."""
    ran, name = statement_of(backward_line(f.here)), f.subject.name
    is_known = f.edge is None or not f.is_connected or f.live.passes() or f.arrived(*f.edge) is not None
    if ran is None or name is None or is_known:
        return []
    loop = next((p for p in parents(ran.node) if isinstance(p, ast.For | ast.While)), None)
    if loop is None or is_given_within(name, loop) or any(may_clear(n) for n in ast.walk(module_of(ran.node))):
        return []
    return [Cause("never_cleared", (f.subject.id,), source=ran.source)]


def may_clear(node: ast.AST) -> bool:
    """It may clear a grad: `opt.zero_grad()`, `w.grad = None`, `w.grad.zero_()`, `grad(...)`."""
    if isinstance(node, ast.Call):
        called = node.func
        return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in CLEARS
    return isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Store | ast.Del)
