"""Which stretches of the program belong together: scopes, calls of modules, checkpoints. They cost an op nothing."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from types import FrameType
from typing import Any

from .provenance import Place, now

REMEMBERED = 4096  # of the latest stretches, so that a training loop keeps flat memory
Order = tuple[int, int]


class Stretch:
    """A part of the run, as an interval in the order of all ops: a scope, the call of a module, or a checkpoint.

    `frame` is that of the user's code that opened a scope. `at` is the user's place that called a module; None in a module.
    `outermost` is the one around all that are open; None for that one itself.
    """

    __slots__ = ("at", "begin", "end", "frame", "module", "name", "outermost")

    def __init__(
        self, name: str | None, module: weakref.ref[Any] | None = None, frame: FrameType | None = None, at: Place | None = None
    ) -> None:
        self.name, self.module, self.frame, self.at = name, module, frame, at
        self.begin: Order = now()
        self.end: Order | None = None
        around = stretches[-1].outermost or stretches[-1] if stretches else None
        self.outermost: Stretch | None = None if around is None or around.end else around
        stretches.append(self)

    @property
    def is_checkpoint(self) -> bool:
        """Is it neither a scope nor the call of a module?"""
        return self.module is None and self.name is None

    def close(self) -> None:
        """End the stretch now."""
        self.end, self.frame = now(), None


@contextmanager
def checkpointed() -> Iterator[None]:
    """Modules that are called inside, but not by one another, are computed anew in the backward pass."""
    stretch = Stretch(None)
    try:
        yield
    finally:
        stretch.close()


stretches: deque[Stretch] = deque(maxlen=REMEMBERED)  # in the order in which they began
open_scopes: list[Stretch] = []


class scope(ContextDecorator):  # noqa: N801 -- a context manager, as no_grad
    """Ops inside belong together: a picture can draw them as one box. ``with scope("attention"):`` or ``@scope("attention")``.

    The box is called by the name; a dot makes two levels of it. Raises TypeError: the name is no string.
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
