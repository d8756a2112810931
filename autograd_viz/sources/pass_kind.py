"""What a backward pass that can be stepped asks of one kind of tensor: the core's, or PyTorch's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..graph.model import Document, Number, Value
from .written import Ran


class Snapshot(Protocol):
    """Something that a step may change, as it was at one moment."""

    def restore(self) -> None:
        """Make it so again."""

    def holds(self) -> bool:
        """Is it so still?"""


class Graph(Protocol):
    """What a pass needs of the graph that it runs through."""

    document: Document
    node_ids: dict[Any, str]

    @property
    def tensors(self) -> dict[str, Any]:
        """The live tensor of each id."""

    def tensor_id(self, tensor: Any) -> str | None:
        """The id of a tensor, or None if it is not part of the graph."""


class PassKind(ABC):
    """Answers for the tensors and nodes of one kind."""

    @abstractmethod
    def grad_snapshot(self, tensor: Any, is_about_to_change: bool = False) -> Any:
        """The tensor's grad as it is now; besides a Snapshot's methods it `shows()` whether the values are the same, has the
        `grad` itself, and its `value()` as the document shows it.
        """

    @abstractmethod
    def saved_snapshot(self, node: Any) -> Snapshot:
        """A node's saved tensors as they are now."""

    def saved_after(self, before: Snapshot, node: Any, is_seen: bool) -> Snapshot:
        """They after the call of the node, of which code of the user's may be a part."""
        return self.saved_snapshot(node)

    @abstractmethod
    def lost(self, node: Any) -> dict[str, str]:
        """The node's saved tensors that it cannot use: by name, "stale" (changed in place since) or "freed"."""

    @abstractmethod
    def attached(self, node: Any) -> Any:
        """What the user has attached to a node; `holds()` if the node would do the same again."""

    @abstractmethod
    def arrived(self, node: Any) -> Sequence[Snapshot]:
        """The gradients that lie ready for a node that code of the user's is a part of, which may change them in place."""

    @abstractmethod
    def shows(self, node: Any, attached: Any) -> bool:
        """May code of the user's keep, or change, gradients of this node: hooks, retain_grad, a Function's backward?"""

    @abstractmethod
    def places(self, gradients: Iterable[Any]) -> list[tuple[int, int]]:
        """Where gradients (None: there is none) lie: the address of the memory, which views share, and how many bytes."""

    @abstractmethod
    def touched(self, node: Any) -> list[Any]:
        """The tensors whose grad a call of the node may change."""

    @abstractmethod
    def called(self, touched: list[Any], edited: tuple[int, ...]) -> Ran:
        """Call the next node."""

    @abstractmethod
    def gradient(self, value: Any, node: Any, index: int) -> Any:
        """What the user has typed as a gradient for an output of a node.

        Raises:
            ValueError: it has another shape, or is not numeric.
        """

    @abstractmethod
    def value_of(self, gradient: Any) -> Value:
        """A gradient as the document shows it."""

    @abstractmethod
    def grad_value(self, tensor: Any) -> Value | None:
        """The tensor's grad."""

    @abstractmethod
    def version_of(self, tensor: Any) -> int:
        """How often the tensor has been changed in place."""

    @abstractmethod
    def numbers_of(self, tensor: Any) -> tuple[Number, ...] | None:
        """The elements of a tensor of so few that the document has them; None where reading them would wait for a device."""

    @abstractmethod
    def id_of(self, thing: Any) -> str | None:
        """The id of a tensor or node of the graph, else None."""

    @property
    def own_ranks(self) -> int:
        """Over how many ranks gradients should have been averaged that are not; 0 if none."""
        return 0

    @abstractmethod
    def untouched(self) -> AbstractContextManager[None]:
        """Steps that run inside, and are taken back there, leave random numbers, leaves and their grads as they were, whatever
        code of the user's they call.
        """

    @property
    def leaves_no_trace(self) -> bool:
        """Can nobody tell that it has run, once it is taken back? It calls no code of the user's, as far as is known."""
        return False
