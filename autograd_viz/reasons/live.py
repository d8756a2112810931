"""What only the live graph can tell."""

from __future__ import annotations

from typing import Protocol

from ..graph.model import Source
from ..graph.passes import Changed, Pass


class Live(Protocol):
    """Answers for the tensors and nodes of one document, by id; None where nobody knows."""

    def has_run(self, node: str) -> bool | None:
        """Has a backward pass called this node?"""

    def was_stepped(self, node: str) -> bool:
        """Was it a stepper that called the node last?"""

    def is_awaited(self, node: str) -> bool:
        """A stepper is half way through this graph, and has yet to call the node."""

    def is_running(self) -> bool:
        """Is a backward pass under way, in which the question is asked?"""

    def requiring(self) -> tuple[str, ...]:
        """The names of the caller's variables that require grad."""

    def changed(self, node: str, saved: str) -> Changed | None:
        """What became of a saved tensor that was changed in place since."""

    def is_inference(self, tensor: str) -> bool:
        """Was it made in inference mode?"""

    def is_recording(self) -> bool:
        """Is grad mode on, where the question is asked?"""

    def is_parameter(self, tensor: str) -> bool:
        """Is it a module's parameter, which requires grad unless somebody says otherwise?"""

    def switched_at(self, tensor: str) -> Source | None:
        """The line that last changed its requires_grad after it was made."""

    def passes(self) -> tuple[Pass, ...]:
        """The calls of backward() on tensors of the document, first to last."""

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """The rows of its gradient that hold nothing but zeros."""

    def grad_changed(self, tensor: str) -> Changed | None:
        """The last change in place of its grad, if there was one since a gradient first stood there."""

    def hooks(self, node: str) -> tuple[str, ...]:
        """The names of the user's hooks there."""

    def shards(self, tensor: str) -> int:
        """Over how many ranks FSDP has sharded the parameter; 0 for any other tensor."""


class NothingLive:
    """A document and nothing behind it (read from a file): `Live` that knows nothing."""

    def has_run(self, node: str) -> bool | None:
        """Nobody knows."""
        return None

    def was_stepped(self, node: str) -> bool:
        """There is none."""
        return False

    def is_awaited(self, node: str) -> bool:
        """There is none."""
        return False

    def is_running(self) -> bool:
        """Nobody knows."""
        return False

    def requiring(self) -> tuple[str, ...]:
        """There are none."""
        return ()

    def changed(self, node: str, saved: str) -> Changed | None:
        """Nobody knows."""
        return None

    def is_inference(self, tensor: str) -> bool:
        """Nobody knows."""
        return False

    def is_recording(self) -> bool:
        """As it mostly is."""
        return True

    def is_parameter(self, tensor: str) -> bool:
        """Nobody knows."""
        return False

    def switched_at(self, tensor: str) -> Source | None:
        """Nobody knows."""
        return None

    def passes(self) -> tuple[Pass, ...]:
        """Nobody knows."""
        return ()

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """Nobody knows."""
        return ()

    def grad_changed(self, tensor: str) -> Changed | None:
        """Nobody knows."""
        return None

    def hooks(self, node: str) -> tuple[str, ...]:
        """Nobody knows."""
        return ()

    def shards(self, tensor: str) -> int:
        """None is known."""
        return 0
