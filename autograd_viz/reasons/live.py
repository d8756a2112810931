"""What only the live graph can tell."""

from __future__ import annotations

from typing import Any, Protocol

from ..graph.passes import Changed


class Live(Protocol):
    """Answers for the tensors and nodes of one document, by id; None where nobody knows."""

    def is_stepped(self) -> bool:
        """Has a stepper gone through the graph?"""

    def has(self, tensor: Any) -> bool:
        """Is a tensor part of the graph?"""

    def has_run(self, node: str) -> bool | None:
        """Has a backward pass called this node?"""

    def changed(self, node: str, saved: str) -> Changed | None:
        """What became of a saved tensor that was changed in place since."""

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """The rows of its gradient that hold nothing but zeros."""

    def grad_changed(self, tensor: str) -> Changed | None:
        """The last change in place of its grad, if there was one since a gradient first stood there."""

    def hooks(self, node: str) -> tuple[str, ...]:
        """The names of the user's hooks there."""


class NothingLive:
    """A document and nothing behind it (read from a file): `Live` that knows nothing."""

    def is_stepped(self) -> bool:
        """There is none."""
        return False

    def has(self, tensor: Any) -> bool:
        """A document has no tensors."""
        return False

    def has_run(self, node: str) -> bool | None:
        """Nobody knows."""
        return None

    def changed(self, node: str, saved: str) -> Changed | None:
        """Nobody knows."""
        return None

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """Nobody knows."""
        return ()

    def grad_changed(self, tensor: str) -> Changed | None:
        """Nobody knows."""
        return None

    def hooks(self, node: str) -> tuple[str, ...]:
        """Nobody knows."""
        return ()
