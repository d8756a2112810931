"""Lines of the user's code that read a gradient."""

from __future__ import annotations

import ast

from ..graph.model import Source
from .code import statement_of


def grads_read(line: Source | None) -> list[ast.expr]:
    """The tensors whose grad the statement at a place reads, as they are written: `self.w` in `self.w.grad.norm()`."""
    asked = statement_of(line)
    found = [] if asked is None else [n for n in ast.walk(asked.node) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    return [n.value for n in found if isinstance(n.ctx, ast.Load)]
