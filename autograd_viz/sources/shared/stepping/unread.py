"""The steps that nobody has read yet: see Note [When a step is read] in written.py."""

from __future__ import annotations

from collections.abc import Iterable

from ....graph.trace import Step

MOST = 2**30  # bytes of gradients kept for unread steps; above that, all these steps are read

Place = tuple[int, int]  # of a gradient: the address of its memory, and its bytes


class Unread:
    """The memory that unread steps of one pass depend on."""

    def __init__(self) -> None:
        self._steps: dict[int, list[Step]] = {}  # by address
        self._shown: set[int] = set()  # addresses that the user's code may hold
        self._bytes = 0

    def add(self, step: Step, places: Iterable[Place]) -> None:
        """Add a step. It is read at once if the user's code may change its gradients."""
        places = list(places)
        if not self._shown.isdisjoint([at for at, _ in places]):
            read(step)
            return
        for at, size in places:
            if at in self._steps:
                self._steps[at].append(step)
            else:
                self._steps[at] = [step]
                self._bytes += size
        if self._bytes > MOST:
            self.read_all()

    def show(self, places: Iterable[Place]) -> None:
        """The user's code is about to get these gradients: steps that depend on the same memory are read first."""
        for at, _ in places:
            self._shown.add(at)
            for step in self._steps.pop(at, ()):
                read(step)

    def read_all(self) -> None:
        """Read all steps; nothing is kept for them any longer."""
        for steps in self._steps.values():
            for step in steps:
                read(step)
        self._steps, self._bytes = {}, 0


def read(step: Step) -> None:
    """Let a step write its numbers."""
    _ = step.changes
