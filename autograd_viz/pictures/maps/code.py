"""The code of a pill, as its line has it: `loss = cross_entropy(logits, ids)`."""

from __future__ import annotations

import re

from ...graph.surroundings import Source
from .cards import Card, helper
from .index import Index

ASSIGNED = re.compile(r"(?:^|;)\s*([A-Za-z_]\w*)\s*=\s*$")  # the name on the left, if it is only one


def code_of(index: Index, card: Card) -> str:
    """The longest expressions that ops of the pill evaluate, with the names that their values get; "" if not on one line.

    Ops that nobody wrote stand at the call that ran them, so code that calls other cards is the code of these.
    """
    sources = [index.document.ops[i].source for i in card.ops()]
    if card.kind != "ops" or any(s is None or not s.expression for s in sources):
        return ""
    known = [s for s in sources if s is not None]
    if len({(s.file, s.line) for s in known}) != 1:
        return ""
    widest = list[Source]()
    for s in sorted(known, key=lambda s: (s.column, -s.end_column)):
        if not widest or s.column >= widest[-1].end_column:
            widest.append(s)
    said = "; ".join(map(_statement, widest))
    function = helper(index, card.first)
    return f"{function}() · {said}" if function and not index.document.calls else said


def _statement(source: Source) -> str:
    """An expression, with the name that it is assigned to as a whole."""
    name, after = ASSIGNED.search(source.text[: source.column]), source.text[source.end_column :].strip()
    return f"{name[1]} = {source.expression}" if name is not None and after[:1] in ("", ";", "#") else source.expression
