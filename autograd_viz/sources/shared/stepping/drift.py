"""Which grads the user has changed outside the stepper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ....graph.model import Document
from ....graph.trace import Rewritten
from .pass_kind import Library


class Drift:
    """Knows each tensor's grad as the picture shows it: as the last step before the cursor left it."""

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


class Rewrites:
    """Knows each tensor's data as the picture shows it."""

    def __init__(self, document: Document, tensors: Mapping[str, Any], library: Library) -> None:
        self._tensors, self._library = tensors, library
        self._versions = {id: library.version_of(t) for id, t in tensors.items()}
        self._found: dict[str, Rewritten] = {}
        drawn = {t.id: t for t in document.tensors}
        self._values = {id: drawn[id].value for id, version in self._versions.items() if version == drawn[id].version}

    def found(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors (of these ids) that differ from the picture, by id."""
        ids = self._tensors if among is None else self._tensors.keys() & among
        return {id: self._now(id) for id in ids if self._has_changed(id)}

    def _has_changed(self, id: str) -> bool:
        tensor, value = self._tensors[id], self._values.get(id)
        if self._library.version_of(tensor) != self._versions[id]:
            return True
        if value is None or not value.numbers:
            return False
        numbers = self._library.numbers_of(tensor)  # nan is unequal to itself; its text is equal
        return numbers is not None and numbers != value.numbers and self._library.value_of(tensor).text != value.text

    def _now(self, id: str) -> Rewritten:
        tensor, known = self._tensors[id], self._found.get(id)
        version = self._library.version_of(tensor)
        if known is None or known.value.numbers or known.version != version:  # a large one is summarized once
            self._found[id] = Rewritten(version, self._library.value_of(tensor))
        return self._found[id]
