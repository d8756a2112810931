"""Ops of one line that have nothing to do with each other, told apart."""

from __future__ import annotations

from .index import Index


def apart(index: Index, first: int, last: int) -> list[tuple[int, int]]:
    """Stretches of ops that do not feed each other; where two of them are interleaved, they are one."""
    group = list(range(last - first))  # by op, an earlier one that it belongs to
    for i in range(first, last):
        for t in index.taken[i]:
            maker = index.maker.get(t.id, -1)
            if first <= maker < i:
                a, b = _root(group, maker - first), _root(group, i - first)
                group[max(a, b)] = min(a, b)
    ends: dict[int, int] = {}
    for k in range(last - first):
        ends[_root(group, k)] = k
    found, begin, end = list[tuple[int, int]](), 0, -1
    for k in range(last - first):
        if k > end >= 0:
            found.append((first + begin, first + k))
            begin = k
        end = max(end, ends[_root(group, k)])
    return [*found, (first + begin, last)]


def _root(group: list[int], k: int) -> int:
    while group[k] != k:
        group[k] = group[group[k]]
        k = group[k]
    return k
