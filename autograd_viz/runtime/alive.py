"""What is known of each thing that is alive, and of no other: of tensors, of passes.

# Note [No line of Python when a thing dies]
What a weak reference calls when its thing is gone is C code here: Ctrl-C that comes in Python code called from there is
printed and lost. So the references stand in a set, which drops one without asking it for anything (they are hashed and compared
as plain objects), and a thing is asked for its references.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

Known = TypeVar("Known")


class _Mark(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that something is known of."""

    __slots__ = ("known",)
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    known: Any


class Alive(Generic[Known]):
    """A mapping from live things, compared as objects, to what is known of them; the entry of a thing dies with it."""

    def __init__(self) -> None:
        self._marks: set[_Mark] = set()
        self._forget = self._marks.discard  # one for all marks

    def get(self, thing: Any) -> Known | None:
        """What is known of it, or None."""
        mark = self._mark(thing)
        return None if mark is None else mark.known

    def __setitem__(self, thing: Any, known: Known) -> None:
        mark = self._mark(thing)
        if mark is None:
            mark = _Mark(thing, self._forget)
            mark.known = known
            self._marks.add(mark)
        mark.known = known

    def pop(self, thing: Any) -> Known | None:
        """What was known of it, which is forgotten."""
        mark = self._mark(thing)
        self._marks.discard(mark)
        return None if mark is None else mark.known

    def __iter__(self) -> Iterator[Any]:
        return (thing for thing, _ in self.items())

    def items(self) -> list[tuple[Any, Known]]:
        """All that are alive, with what is known of them."""
        alive = ((mark(), mark.known) for mark in [*self._marks])
        return [(thing, known) for thing, known in alive if thing is not None]

    def _mark(self, thing: Any) -> _Mark | None:
        for r in weakref.getweakrefs(thing):
            if type(r) is _Mark and r in self._marks:
                return r
        return None
