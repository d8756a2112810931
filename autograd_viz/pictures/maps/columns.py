"""Which parts of a frame stand side by side: ways that do not meet, from where they begin to where they do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from .cards import Card
from .flow import EXIT, Flow

Row = list[list[int]]
"""Columns, from left to right, each the places of its parts from the top down."""

MOST = 3  # columns; more ways than that stay one below the other
LONGEST = 60  # parts of a row


def in_one_column(parts: Sequence[Card]) -> list[Row]:
    """One below the other, as the program ran."""
    return [[[k]] for k in range(len(parts))]


def rows_of(parts: Sequence[Card], flows: Sequence[Flow]) -> list[Row]:
    """The parts from the top down; ways that do not meet, in one row. A row of several columns has a row of one part above and
    below it. Each column is a chain with a call in it: what it takes comes in at its top, what it gives leaves at its bottom. A
    residual way is a part of its chain, so it makes no column.
    """
    ways = _Ways(parts, flows)
    found, placed, at = list[Row](), 0, 0  # `at`: what stands before it is placed, or stays single
    for k in range(1, len(parts)):
        start = max(max(ways.into[k], default=-1) + 1, at, k - LONGEST)
        if start >= k or not ways.calls_in(k, start + LONGEST):
            continue
        row = ways.row(start)
        if len(row) > 1:
            end = start + sum(map(len, row))
            if len(row) <= MOST:
                found += [*([[j]] for j in range(placed, start)), row]
                placed = end
            at = end + 1
    return found + [[[j]] for j in range(placed, len(parts))]


class _Ways:
    """The graph of parts."""

    def __init__(self, parts: Sequence[Card], flows: Sequence[Flow]) -> None:
        self.parts = parts
        self.into: list[list[int]] = [[] for _ in parts]
        self.out: list[list[int]] = [[] for _ in parts]
        for f in flows:
            if f.target != EXIT:
                self.into[f.target].append(f.source)
            if f.source >= 0:
                self.out[f.source].append(f.target)
        self._calls = [0, *accumulate(part.kind not in ("ops", "root") for part in parts)]

    def calls_in(self, first: int, last: int) -> int:
        """How many of some parts are calls."""
        return self._calls[min(last, len(self.parts))] - self._calls[first]

    def row(self, start: int) -> Row:
        """The chains that begin here or later, up to where two of them meet."""
        columns, home = list[list[int]](), dict[int, int]()
        for k in range(start, min(len(self.parts), start + LONGEST)):
            near = {home[s] for s in self.into[k] if s in home}
            if self.parts[k].kind == "root" or len(near) > 1:
                break
            if not near:
                columns.append([])
            elif self.into[k] != [columns[min(near)][-1]]:
                break
            home[k] = min(near, default=len(columns) - 1)
            columns[home[k]].append(k)
        return self._cut(columns)

    def _cut(self, columns: Row) -> Row:
        """As much of it as can be drawn without a way that crosses a card, if each column has a call."""
        while True:
            leaves = [c[i + 1] for c in columns for i, k in enumerate(c[:-1]) if self.out[k] != [c[i + 1]]]
            leaves += [c[0] for c in columns if all(self.parts[k].kind == "ops" for k in c)]
            if not leaves:
                return columns
            end = min(leaves)
            columns = [kept for c in columns if (kept := [k for k in c if k < end])]
