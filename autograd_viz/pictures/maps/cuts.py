"""Where a way is cut: `detach()`, `.data`, `no_grad`. The values go on, no gradient comes back."""

from __future__ import annotations

import re

from ... import words
from ...graph.model import Document
from .ink import shortened

LONGEST = 30  # letters of the code that cuts
SHAPED = re.compile(r"New[A-Z]|.*Like$")  # ops that take a shape: no value goes through `randn_like(mu)`
DISTINCT = ("bool", "int", "uint")  # numbers that have no gradient anyway


def cuts_of(document: Document) -> dict[str, int]:
    """By tensor that needs no grad, the op on the way to it that cut it off from one that does."""
    tensors, found = {t.id: t for t in document.tensors}, dict[str, int]()
    for i, op in enumerate(document.ops):
        given = [o.tensor for o in op.inputs if o.tensor is not None]
        at = i if any(tensors[t].requires_grad for t in given) else next((found[t] for t in given if t in found), None)
        for t in op.outputs if SHAPED.match(op.name) is None else ():
            if at is None or t is None or tensors[t].requires_grad:
                continue
            if not tensors[t].value.dtype.startswith(DISTINCT):
                found[t] = at
    return found


def cut_said(document: Document, at: int) -> str:
    """`fake.detach(), line 12: no gradient goes back`."""
    op = document.ops[at]
    code = "" if op.source is None else op.source.expression
    if op.reason == "no_grad":
        code = "no_grad()"
    elif op.name != "Detach":
        code = f"{op.name.lower()}()"
    elif not code.endswith((".detach()", ".data", ".detach_()")):
        code = "detach()"
    elif len(code) > LONGEST:
        code = f"….{code.rpartition('.')[2]}"
    line = "" if op.source is None else f", {words.AT_LINE.format(line=op.source.line)}"
    return words.MAP_CUT.format(code=shortened(code, LONGEST), line=line)
