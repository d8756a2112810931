"""Tensors whose gradient a line reads."""

from __future__ import annotations

import ast

from ...graph.listing import parsed
from ...graph.surroundings import Source


def grads_read(line: Source | None) -> list[ast.expr]:
    """The tensors whose grad is read by the statement of a line, as written: `self.w` in `self.w.grad.norm()`."""
    try:
        tree = parsed("" if line is None else line.text.strip())
    except SyntaxError:  # a part of a statement
        return []
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    return [n.value for n in found if isinstance(n.ctx, ast.Load)]
