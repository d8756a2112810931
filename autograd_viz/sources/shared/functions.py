"""The calls of the user's functions, as a document lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...graph.surroundings import Call


class Numbered(NamedTuple):
    """A call that was seen.

    Attributes:
        number: no other call has it.
        name: of the function.
        module: path of the module or scope in which it was called.
    """

    number: int
    name: str
    module: str


class CallList:
    """The calls around some ops, each once. One that is around all of them tells nothing: it is left out.

    Args:
        all: of each op the calls around it, from the outermost.
    """

    def __init__(self, all: Iterable[Sequence[Numbered]]) -> None:
        self.calls: list[Call] = []
        known = list(all)
        shortest = min(known, key=len, default=())
        common = [s.number for k, s in enumerate(shortest) if {around[k] for around in known} == {s}]
        self._places: dict[int, int | None] = dict.fromkeys(common)
        for around in known:
            above: int | None = None
            for seen in around:
                if seen.number not in self._places:
                    self._places[seen.number] = len(self.calls)
                    self.calls.append(Call(seen.name, seen.module, above))
                above = self._places[seen.number]

    def innermost(self, around: Sequence[Numbered]) -> int | None:
        """The place of the innermost one."""
        return self._places[around[-1].number] if around else None
