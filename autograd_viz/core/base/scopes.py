"""Which stretches of the program belong together: `with scope("attention"):`, and calls of modules.

Scopes cost an op nothing. A stretch records its beginning and end, and every op has a position in the same order.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from contextlib import ContextDecorator
from types import FrameType
from typing import Any

from .provenance import now

REMEMBERED = 4096  # the latest stretches, so that a training loop uses constant memory
Order = tuple[int, int]


class Stretch:
    """A part of the run, as an interval in the order of all ops.

    Attributes:
        name: the name of a scope.
        module: weak reference to the called module, or None for a scope.
        begin, end: orders (provenance.py); `end` is None until the stretch ends.
        frame: the frame of the user's code that opened a scope, until it ends.
    """

    __slots__ = ("begin", "end", "frame", "module", "name")

    def __init__(self, name: str, module: weakref.ref[Any] | None = None, frame: FrameType | None = None) -> None:
        self.name, self.module, self.frame = name, module, frame
        self.begin: Order = now()
        self.end: Order | None = None
        stretches.append(self)

    def close(self) -> None:
        """End the stretch now."""
        self.end, self.frame = now(), None


stretches: deque[Stretch] = deque(maxlen=REMEMBERED)  # in order of their beginning
open_scopes: list[Stretch] = []


class scope(ContextDecorator):  # noqa: N801 -- a context manager, as no_grad
    """Group ops: a picture can draw them as one box. ``with scope("attention"):`` or ``@scope("attention")``.

    Args:
        name: the title of the box; a dot makes two levels.

    Raises:
        TypeError: the name is not a str.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"scope(): the name must be str, not {type(name).__name__}")
        self.name = name
        self._open: list[Stretch] = []

    def __enter__(self) -> None:
        self._open.append(Stretch(self.name, frame=sys._getframe(1)))
        open_scopes.append(self._open[-1])

    def __exit__(self, *error: object) -> None:
        stretch = self._open.pop()
        stretch.close()
        open_scopes.remove(stretch)
