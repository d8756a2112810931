"""The last passes, optimizers and steps, with their lines: what no tensor remembers, and `explain` is asked about."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from .provenance import callers_place, now

MOST = 64  # of each


class PassNote:
    """A call of backward() or grad().

    Attributes:
        name: "backward" or "grad".
        root: a weak reference to the tensor.
        order, at: when and where.
        error: what it raised; "" if nothing.
        wanted: only some inputs were asked for.
        results: weak references to gradients that grad() returned without a graph.
    """

    __slots__ = ("at", "error", "name", "order", "results", "root", "wanted")

    def __init__(self, name: str, root: Any, wanted: bool) -> None:
        is_tensor = bool(type(root).__weakrefoffset__)  # not a gradient edge, nor what is refused
        self.root: Any = weakref.ref(root) if is_tensor else _nothing
        self.name, self.wanted, self.error = name, wanted, ""
        self.results: tuple[Any, ...] = ()
        self.order, self.at = now(), callers_place()


def _nothing() -> None:
    """In the place of a weak reference."""


class Command:
    """An optimizer was made, or took a step: here and now.

    Attributes:
        of: a weak reference to it.
        order, at: when and where.
    """

    __slots__ = ("at", "of", "order")

    def __init__(self, optimizer: Any) -> None:
        self.of, self.order, self.at = weakref.ref(optimizer), now(), callers_place()


passes: deque[PassNote] = deque(maxlen=MOST)
optimizers: deque[Command] = deque(maxlen=MOST)
steps: deque[Command] = deque(maxlen=MOST)


class passing:  # noqa: N801 -- used as `with passing(...)`
    """A pass runs inside.

    Args:
        name: "backward" or "grad".
        root: the tensor on which it was called.
        wanted: only some inputs were asked for.
    """

    def __init__(self, name: str, root: Any, wanted: bool) -> None:
        self._noted = PassNote(name, root, wanted)

    def __enter__(self) -> PassNote:
        passes.append(self._noted)
        return self._noted

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            self._noted.error = str(error) or type(error).__name__
