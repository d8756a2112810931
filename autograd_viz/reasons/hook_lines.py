"""Lines of the user's code that register hooks: PyTorch does not show those of a tensor that is gone."""

from __future__ import annotations

import ast

from ..graph.model import Source
from .code import Statement, statement_of
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
    around = [next(p for p in parents(c) if isinstance(p, ast.stmt)) for c in calls]
    return [Statement(n).source for n in dict.fromkeys(around)][:MOST]


def _registers(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr in REGISTER
