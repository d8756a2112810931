"""Ops of one line told apart: those that have nothing to do with each other, the parts of a long expression, and terms."""

from __future__ import annotations

from collections.abc import Iterable

from ...graph.surroundings import Source
from .index import Index

MANY, MORE = 5, 8  # ops that compute in one pill: from here on its expression is taken apart, and a part of it again
JOINING = {"Add", "Sub", "Mul", "Div", "Neg"}
Stretch = tuple[int, int]


def apart(index: Index, first: int, last: int) -> list[Stretch]:
    """Stretches of ops that do not feed each other; where two of them are interleaved, they are one."""
    found = list[Stretch]()
    for i in range(first, last):
        earliest = min((m for t in index.taken[i] if (m := index.maker.get(t.id, -1)) >= first), default=i)
        begin = i
        while found and earliest < found[-1][1]:
            begin = found.pop()[0]
        found.append((begin, i + 1))
    return found


def expressions(index: Index, first: int, last: int) -> list[Stretch]:
    """The ops of a long line by the parts of its expression: `a.mean()`, `w.pow(2).sum()`, and what joins them. Parts are
    evaluated before what joins them. Where ops are not in that order, their line stays whole.
    """
    found, todo = list[Stretch](), [(first, last)]
    while todo:
        a, b = todo.pop()
        parts = _operands(index, a, b, MANY if (a, b) == (first, last) else MORE)
        if len(parts) < 2:
            found.append((a, b))
            continue
        end = parts[-1][1]
        found += [(end, b)] if end < b else []
        todo += parts
    return sorted(found)


def terms(index: Index, first: int, last: int) -> list[Stretch]:
    """The ops of a sum of numbers by its terms, and what joins them, where no code is known."""
    computing = [i for i in range(first, last) if not index.rearranges(i)]
    if len(computing) < MANY or any(index.document.ops[i].source is not None for i in computing):
        return [(first, last)]
    begin = last
    while begin > first and _joins(index, begin - 1):
        begin -= 1
    makers = {index.maker.get(t.id, -1) for i in range(begin, last) for t in index.taken[i]}
    ends = sorted(makers.intersection(range(first, begin)))
    if len(ends) < 2 or ends[-1] != begin - 1:
        return [(first, last)]
    starts = [first, *(end + 1 for end in ends)]
    found = [part for a, b in zip(starts, starts[1:], strict=False) for part in _without_others(index, a, b)]
    return [*found, (begin, last)]


def _without_others(index: Index, first: int, last: int) -> list[Stretch]:
    """The ops of a term; those before it that only later terms take stand apart."""
    begin, reach = first, -1
    for i in range(first, last - 1):
        users = [u for t in index.document.ops[i].outputs if t is not None for u in index.users.get(t, ())]
        reach = max([reach, *(u for u in users if u < last)])
        begin = i + 1 if reach <= i else begin
    return [(first, begin), (begin, last)] if begin > first else [(first, last)]


def _joins(index: Index, i: int) -> bool:
    """Does an op add numbers, or scale one?"""
    op, taken = index.document.ops[i], index.taken[i]
    return op.name in JOINING and bool(taken) and not any(t.value.shape for t in taken)


def _operands(index: Index, first: int, last: int, many: int) -> list[Stretch]:
    """The outermost parts of an expression that are two or more, if it has many ops and stands on one line. Ops that only
    rearrange go with what takes them.
    """
    computing = [(i, s) for i in range(first, last) if not index.rearranges(i) and (s := index.document.ops[i].source)]
    if len(computing) < many or any(not s.expression or s.line != computing[0][1].line for _, s in computing):
        return []
    while computing:
        whole = widest(s for _, s in computing)
        if len(whole) > 1:
            return _stretches(computing, whole, first)
        inner = [(i, s) for i, s in computing if s != whole[0]]
        if computing[: len(inner)] != inner:
            return []
        computing = inner
    return []


def _stretches(computing: list[tuple[int, Source]], parts: list[Source], first: int) -> list[Stretch]:
    """The ops of each part, if they ran one part after the other."""
    found = list[Stretch]()
    for part in parts:
        inside = [(i, s) for i, s in computing if part.contains(s)]
        if inside != computing[: len(inside)]:
            return []
        computing = computing[len(inside) :]
        found.append((found[-1][1] if found else first, inside[-1][0] + 1))
    return found


def widest(sources: Iterable[Source]) -> list[Source]:
    """Those that stand in no other, from left to right."""
    found = list[Source]()
    for s in sorted(sources, key=lambda s: (s.column, -s.end_column)):
        if not found or s.column >= found[-1].end_column:
            found.append(s)
    return found
