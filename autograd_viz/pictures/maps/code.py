"""The code of a pill, as its line has it: `loss = cross_entropy(logits, ids)`."""

from __future__ import annotations

import re

from ...graph.surroundings import Source
from .apart import widest
from .cards import Card, helper
from .index import Index

NAMED = 12  # letters of a part that is said again
CALL = re.compile(r"[A-Za-z_][\w.]*\(")
ASSIGNED = re.compile(r"(?:^|;)\s*([A-Za-z_]\w*)\s*=\s*$")  # the name on the left, if it is only one


def code_of(index: Index, card: Card) -> str:
    """The longest expressions that ops of the pill evaluate, with the names that their values get; "" if not on one line. Ops
    that nobody wrote stand at the call that ran them, so code that calls other cards is the code of these.
    """
    computing = [i for i in card.ops() if not index.rearranges(i)]
    sources = [index.document.ops[i].source for i in computing or card.ops()]
    known = [s for s in sources if s is not None and s.expression]
    if card.kind != "ops" or len(known) < len(sources) or len({(s.file, s.line) for s in known}) != 1:
        return ""
    around = {".".join(card.path[:k]) for k in range(len(card.path) + 1)}
    if card.path and any(m.source in known for m in index.document.modules if m.path in around):
        return ""  # an op of a library's module
    whole = widest(known)
    others = _before(index, card.first, whole)
    said = "; ".join(_statement(s, others) for s in whole)
    function = helper(index, card.first)
    return f"{function}() · {said}" if function and not index.document.calls else said


def _before(index: Index, first: int, whole: list[Source]) -> list[Source]:
    """Parts of the expressions that stand in pills of their own, before this one."""
    found = list[Source]()
    for i in range(first - 1, -1, -1):
        s = index.document.ops[i].source
        is_called = index.document.ops[i].module != index.document.ops[first].module  # it has a card of its own
        if is_called or s is None or not any(_is_part(w, s) for w in whole):
            break
        found.append(s)
    return [s for s in widest(found) if len(s.expression) > NAMED]


def _is_part(whole: Source, s: Source) -> bool:
    return (s.file, s.line) == (whole.file, whole.line) and s != whole and whole.contains(s)


def _statement(source: Source, others: list[Source]) -> str:
    """An expression, with the name that it is assigned to as a whole; … for its parts that stand in other pills."""
    name, after = ASSIGNED.search(source.text[: source.column]), source.text[source.end_column :].strip()
    said, at = "", source.column
    for s in others:
        if _is_part(source, s):
            said, at = f"{said}{source.text[at : s.column]}{_short(s.expression)}", s.end_column
    said += source.text[at : source.end_column]
    return f"{name[1]} = {said}" if name is not None and after[:1] in ("", ";", "#") else said


def _short(said: str) -> str:
    """Of a part that stands in another pill: `cross_entropy(…)`, if it is one call."""
    call, depth = CALL.match(said), 0
    for k in range(len(said) if call else 0):
        depth += (said[k] in "([{") - (said[k] in ")]}")
        if depth == 0 and said[k] in ")]}" and k < len(said) - 1:
            return "…"
    return "…" if call is None else f"{call[0]}…)"
