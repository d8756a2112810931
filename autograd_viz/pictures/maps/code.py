"""The code of a pill, as its line has it: `loss = cross_entropy(logits, ids)`."""

from __future__ import annotations

import re

from .cards import Card, helper
from .index import Index

ASSIGNED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*")  # the name on the left, if it is only one


def code_of(index: Index, card: Card) -> str:
    """The longest expression that an op of the pill evaluates, with the name that its value gets; "" if it is not on one line.

    Ops that nobody wrote stand at the call that ran them, so code that calls other cards is the code of these.
    """
    sources = [index.document.ops[i].source for i in card.ops()]
    if card.kind != "ops" or any(s is None or not s.expression for s in sources):
        return ""
    known = [s for s in sources if s is not None]
    if len({(s.file, s.line) for s in known}) != 1:
        return ""
    widest = max(known, key=lambda s: s.end_column - s.column)
    if any(s.column < widest.column or s.end_column > widest.end_column for s in known):
        return ""
    name = ASSIGNED.match(widest.text)
    is_whole = name is not None and name.end() == widest.column and not widest.text[widest.end_column :].strip()
    function = helper(index, card.first)
    said = f"{name[1]} = {widest.expression}" if is_whole and name is not None else widest.expression
    return f"{function}() · {said}" if function and not index.document.calls else said
