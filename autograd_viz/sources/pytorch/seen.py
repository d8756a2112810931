"""What is known of each tensor that is alive, and of no other.

# Note [No line of Python when a tensor dies]
What a weak reference calls when its tensor is gone is C code here: Ctrl-C that comes in Python code called from there is
printed and lost. So the references stand in a set, which drops one without asking it for anything (they are hashed and compared
as plain objects), and a tensor is asked for its references.
"""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

Known = TypeVar("Known")


class _Mark(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that something is known of."""

    __slots__ = ("known",)
    __hash__ = object.__hash__
    __eq__ = object.__eq__
    known: Any


class Seen(Generic[Known]):
    """A mapping from live tensors to what is known of them; a tensor's entry dies with it."""

    def __init__(self) -> None:
        self._marks: set[_Mark] = set()

    def get(self, tensor: Any) -> Known | None:
        """What is known of the tensor, or None."""
        mark = self._mark(tensor)
        return None if mark is None else mark.known

    def __setitem__(self, tensor: Any, known: Known) -> None:
        mark = self._mark(tensor)
        if mark is None:
            mark = _Mark(tensor, self._marks.discard)
            mark.known = known
            self._marks.add(mark)
        mark.known = known

    def __len__(self) -> int:
        return len(self._marks)

    def _mark(self, tensor: Any) -> _Mark | None:
        marks = (r for r in weakref.getweakrefs(tensor) if type(r) is _Mark and r in self._marks)
        return next(marks, None)
