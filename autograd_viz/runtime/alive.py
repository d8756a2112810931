"""A mapping from living objects (tensors, passes) to data about them.

# Note [No line of Python when a thing dies]
Python prints and loses a Ctrl-C inside a Python callback of a weak reference. So the references stand in a set, hashed and
compared as plain objects, and the callback is its C method `discard`. The data of an object are found by the object's own list
of weak references.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

Known = TypeVar("Known")


class _Mark(weakref.ref):  # type: ignore[type-arg]
    __slots__ = ("known",)
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    known: Any


class Alive(Generic[Known]):
    """A mapping from living objects, compared by identity, to data. The entry of an object ends with it."""

    def __init__(self) -> None:
        self._marks: set[_Mark] = set()
        self._forget = self._marks.discard  # shared by all marks

    def get(self, thing: Any) -> Known | None:
        """The data of the object, or None."""
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
        """Remove and return the data of the object, or None."""
        mark = self._mark(thing)
        self._marks.discard(mark)
        return None if mark is None else mark.known

    def __iter__(self) -> Iterator[Any]:
        return (thing for thing, _ in self.items())

    def items(self) -> list[tuple[Any, Known]]:
        """All living objects with their data."""
        alive = ((mark(), mark.known) for mark in [*self._marks])
        return [(thing, known) for thing, known in alive if thing is not None]

    def _mark(self, thing: Any) -> _Mark | None:
        return next((r for r in weakref.getweakrefs(thing) if type(r) is _Mark and r in self._marks), None)
