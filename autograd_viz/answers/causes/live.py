"""What only the live graph knows."""

from __future__ import annotations

from typing import Any, Protocol

from ...graph.passes import Changed
from ...graph.surroundings import Source


class Live(Protocol):
    """Answers for the tensors and nodes of one document, by id; None if unknown."""

    def is_stepped(self) -> bool:
        """Has a stepper run the graph?"""

    def has(self, tensor: Any) -> bool:
        """Is a tensor part of the graph?"""

    def has_run(self, node: str) -> bool | None:
        """Has a backward pass called this node?"""

    def changed(self, node: str, saved: str) -> Changed | None:
        """How a saved tensor was modified."""

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """The rows of its gradient that have only zeros."""

    def grad_changed(self, tensor: str) -> Changed | None:
        """The last in-place change of its grad after its first gradient, if there was one."""

    def hooks(self, node: str) -> tuple[str, ...]:
        """The names of the user's hooks there."""

    def written_at(self, node: str) -> Source | None:
        """Where the backward of a user's Function is written."""


class NothingLive:
    """`Live` for a document without a live graph (from a file): it knows nothing."""

    def is_stepped(self) -> bool:
        """No."""
        return False

    def has(self, tensor: Any) -> bool:
        """A document has no tensors."""
        return False

    def has_run(self, node: str) -> bool | None:
        """Unknown."""
        return None

    def changed(self, node: str, saved: str) -> Changed | None:
        """Unknown."""
        return None

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """Unknown."""
        return ()

    def grad_changed(self, tensor: str) -> Changed | None:
        """Unknown."""
        return None

    def hooks(self, node: str) -> tuple[str, ...]:
        """Unknown."""
        return ()

    def written_at(self, node: str) -> Source | None:
        """Unknown."""
        return None
