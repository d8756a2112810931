"""Tensors whose own elements somebody has changed in place since they were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..graph.model import Document, Number, Value
from ..graph.trace import Rewritten


class Rewrites:
    """Knows each tensor's data as the picture shows it.

    Args:
        document: what is drawn.
        tensors: the live tensor of each id.
        version_of: how often a tensor has been changed in place.
        numbers_of: the elements of a tensor of so few, or None where they cannot be read at once.
        value_of: a tensor's data as the document shows it.
    """

    def __init__(
        self,
        document: Document,
        tensors: Mapping[str, Any],
        version_of: Callable[[Any], int],
        numbers_of: Callable[[Any], tuple[Number, ...] | None],
        value_of: Callable[[Any], Value],
    ) -> None:
        self._tensors, self._version_of, self._numbers_of, self._value_of = tensors, version_of, numbers_of, value_of
        self._versions = {id: version_of(t) for id, t in tensors.items()}
        self._found: dict[str, Rewritten] = {}
        drawn = {t.id: t for t in document.tensors}
        self._values = {id: drawn[id].value for id, version in self._versions.items() if version == drawn[id].version}

    def found(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors (of these ids) that are not as they were drawn, by id."""
        ids = self._tensors if among is None else self._tensors.keys() & among
        return {id: self._now(id) for id in ids if self._has_changed(id)}

    def _has_changed(self, id: str) -> bool:
        tensor, value = self._tensors[id], self._values.get(id)
        if self._version_of(tensor) != self._versions[id]:
            return True
        if value is None or not value.numbers:
            return False
        numbers = self._numbers_of(tensor)  # a nan is unlike itself, but not its text
        return numbers is not None and numbers != value.numbers and self._value_of(tensor).text != value.text

    def _now(self, id: str) -> Rewritten:
        tensor, known = self._tensors[id], self._found.get(id)
        version = self._version_of(tensor)
        if known is None or known.value.numbers or known.version != version:  # a large one is summed up once
            self._found[id] = Rewritten(version, self._value_of(tensor))
        return self._found[id]
