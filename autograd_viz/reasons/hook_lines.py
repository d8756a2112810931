"""Lines of the user's code that register hooks: PyTorch does not show those of a tensor that is gone."""

from __future__ import annotations

import ast

from ..graph.model import Source
from .code import Statement, position, scope_of, statement_of
from .facts import Facts
from .parsed import module_of, parents

REGISTER = {
    "register_hook", "register_prehook", "register_full_backward_hook", "register_full_backward_pre_hook",
    "register_multi_grad_hook", "register_backward_hook",
}  # fmt: skip
MOST = 3  # that are named


def hooks_in_code(f: Facts) -> list[Source]:
    """The lines that register hooks, in the file of the question; none where the graph itself knows them, as ours does."""
    asked = statement_of(f.here)
    if asked is None or f.live.passes():
        return []
    calls = [n for n in ast.walk(module_of(asked.node)) if isinstance(n, ast.Call) and _registers(n.func)]
    on_the_way = [c.func for c in calls if isinstance(c.func, ast.Attribute) and not _is_beside(f, c.func.value)]
    around = [next(p for p in parents(c) if isinstance(p, ast.stmt)) for c in on_the_way]
    ran = [n for n in dict.fromkeys(around) if scope_of(n) is not scope_of(asked.node) or position(n) < position(asked.node)]
    return [Statement(n).source for n in ran][:MOST]


def _is_beside(f: Facts, tensor: ast.expr) -> bool:
    """It is another leaf: its hooks change its own gradient."""
    name = ast.unparse(tensor)
    return any(t.name == name and t.is_leaf and t.id != f.subject.id for t in f.tensors.values())


def _registers(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr in REGISTER
