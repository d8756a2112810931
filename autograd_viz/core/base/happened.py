"""The last backward passes, optimizers and optimizer steps, with their lines. `explain` reads them; no tensor holds them."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from .provenance import callers_place, now

MOST = 64  # the length of each list


class PassNote:
    """A call of backward() or grad().

    Attributes:
        name: "backward" or "grad".
        root: a weak reference to the tensor.
        order, at: when and where.
        error: the message of the exception; "" if there was none.
        wanted: only some inputs were asked for.
        results: weak references to gradients that grad() returned without a graph.
    """

    __slots__ = ("at", "error", "name", "order", "results", "root", "wanted")

    def __init__(self, name: str, root: Any, wanted: bool) -> None:
        is_tensor = bool(type(root).__weakrefoffset__)  # a gradient edge and a wrong argument are not
        self.root: Any = weakref.ref(root) if is_tensor else _nothing
        self.name, self.wanted, self.error = name, wanted, ""
        self.results: tuple[Any, ...] = ()
        self.order, self.at = now(), callers_place()


def _nothing() -> None:
    """What a dead weak reference returns."""


class Command:
    """The creation or a step of an optimizer, now and here.

    Attributes:
        of: a weak reference to the optimizer.
        order, at: when and where.
    """

    __slots__ = ("at", "of", "order")

    def __init__(self, optimizer: Any) -> None:
        self.of, self.order, self.at = weakref.ref(optimizer), now(), callers_place()


passes: deque[PassNote] = deque(maxlen=MOST)
optimizers: deque[Command] = deque(maxlen=MOST)
steps: deque[Command] = deque(maxlen=MOST)


def stepping(optimizer: Any) -> None:
    """An optimizer is about to update its parameters."""
    steps.append(Command(optimizer))


class passing:  # noqa: N801 -- used as `with passing(...)`
    """A context in which a backward pass runs.

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
