"""Which grads the user has changed outside the stepper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Drift:
    """Knows each tensor's grad as the picture shows it: as the last step before the cursor left it.

    Args:
        tensors: the live tensor of each id.
        snapshot: makes the snapshot of a tensor's grad.
    """

    def __init__(self, tensors: Mapping[str, Any], snapshot: Callable[[Any], Any]) -> None:
        self._tensors = tensors
        self._shown = {t: [snapshot(t)] for t in tensors.values()}

    def done(self, snapshots: Iterable[Any]) -> None:
        """A step has run and left these grads."""
        for snapshot in snapshots:
            if snapshot.tensor in self._shown:
                self._shown[snapshot.tensor].append(snapshot)

    def undone(self, snapshots: Iterable[Any]) -> None:
        """That step is taken back: the picture shows the grads from before."""
        for snapshot in snapshots:
            if snapshot.tensor in self._shown:
                self._shown[snapshot.tensor].pop()

    def found(self, among: Iterable[str] | None = None) -> dict[str, Any]:
        """The tensors (of these ids) whose grad has changed since, by id."""
        ids = self._tensors if among is None else self._tensors.keys() & among
        return {id: self._tensors[id] for id in ids if not self._shown[self._tensors[id]][-1].shows()}
