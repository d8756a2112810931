"""Tensors whose elements were changed in place after they were drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ....graph.model import Document, Number, Value
from ....graph.trace import Rewritten


class Reader(Protocol):
    """How to ask a tensor of one framework. It is an argument of each question: stored, it would keep the graph alive."""

    def version_of(self, tensor: Any) -> int:
        """The version counter of the tensor."""

    def numbers_of(self, tensor: Any) -> tuple[Number, ...] | None:
        """The elements of a small tensor; None if reading them would wait."""

    def value_of(self, gradient: Any) -> Value:
        """A tensor's data as the document shows it."""


class Rewrites:
    """Knows each tensor's data as the picture shows it.

    Args:
        document: what is drawn.
        tensors: the live tensor of each id.
        reader: asks them.
    """

    def __init__(self, document: Document, tensors: Mapping[str, Any], reader: Reader) -> None:
        self._tensors = tensors
        self._versions = {id: reader.version_of(t) for id, t in tensors.items()}
        self._found: dict[str, Rewritten] = {}
        drawn = {t.id: t for t in document.tensors}
        self._values = {id: drawn[id].value for id, version in self._versions.items() if version == drawn[id].version}

    def found(self, reader: Reader, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors (of these ids) that differ from the picture, by id."""
        ids = self._tensors if among is None else self._tensors.keys() & among
        return {id: self._now(id, reader) for id in ids if self._has_changed(id, reader)}

    def _has_changed(self, id: str, reader: Reader) -> bool:
        tensor, value = self._tensors[id], self._values.get(id)
        if reader.version_of(tensor) != self._versions[id]:
            return True
        if value is None or not value.numbers:
            return False
        numbers = reader.numbers_of(tensor)  # nan is unequal to itself; its text is equal
        return numbers is not None and numbers != value.numbers and reader.value_of(tensor).text != value.text

    def _now(self, id: str, reader: Reader) -> Rewritten:
        tensor, known = self._tensors[id], self._found.get(id)
        version = reader.version_of(tensor)
        if known is None or known.value.numbers or known.version != version:  # a large one is summarized once
            self._found[id] = Rewritten(version, reader.value_of(tensor))
        return self._found[id]
