"""The steps that nobody has read: see Note [When a step is read] in written.py."""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.trace import Step

MOST = 2**30  # bytes of gradients that are kept only for steps that nobody has read; then all of these are read

Place = tuple[int, int]  # a gradient: the address of its memory, and its bytes


class Unread:
    """Which memory the steps of one pass that nobody has read are written from."""

    def __init__(self) -> None:
        self._steps: dict[int, list[Step]] = {}  # by address
        self._shown: set[int] = set()  # addresses that code of the user's may hold
        self._bytes = 0

    def add(self, step: Step, places: Iterable[Place]) -> None:
        """A step has run. It is read at once if code of the user's may change its gradients."""
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
        """Code of the user's is about to get these gradients: what was made of the same memory is read before."""
        for at, _ in places:
            self._shown.add(at)
            for step in self._steps.pop(at, ()):
                read(step)

    def read_all(self) -> None:
        """Read them all: nothing is kept for them any longer."""
        for steps in self._steps.values():
            for step in steps:
                read(step)
        self._steps, self._bytes = {}, 0


def read(step: Step) -> None:
    """Let a step write its numbers down."""
    _ = step.changes
