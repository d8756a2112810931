"""Leaves that may have changed since the pass."""

from __future__ import annotations

from .backward_lines import backward_line
from .changes import changed_line, has_steps
from .code import statement_of
from .facts import Facts
from .written_numbers import writes_infinity


def changed_since(f: Facts, leaf: str) -> bool:
    """What a leaf holds now may not be what the pass was run with: a step or a write came after it, or the pass is not seen."""
    t = f.tensors[leaf]
    made = statement_of(t.source)
    if not t.requires_grad or t.name is None or (made is not None and writes_infinity(made.node)):
        return False
    ran = backward_line(f.here)
    return has_steps(f.here) if ran is None else changed_line(t.name, f.here, ran) is not None
