"""What a stepped backward pass needs to know about one kind of tensor: the core's, or PyTorch's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from ....graph.model import Document, Number, Value
from .step import Ran


class Snapshot(Protocol):
    """Something that a step may change, as it was at one moment."""

    def restore(self) -> None:
        """Restore it."""

    def holds(self) -> bool:
        """Is it unchanged?"""


class Graph(Protocol):
    """What a pass needs from its graph."""

    document: Document
    node_ids: dict[Any, str]

    @property
    def tensors(self) -> dict[str, Any]:
        """The live tensor of each id."""

    def tensor_id(self, tensor: Any) -> str | None:
        """The id of a tensor, or None if it is not part of the graph."""


class Library(NamedTuple):
    """How to ask a tensor of one library."""

    is_tensor: Callable[[Any], bool]  # is a thing one of its tensors?
    value_of: Callable[[Any], Value]  # a tensor or gradient as the document shows it
    grad_of: Callable[[Any], Any]  # its grad
    version_of: Callable[[Any], int]  # its version counter
    # the elements of a small tensor; None if reading them would wait for a device
    numbers_of: Callable[[Any], tuple[Number, ...] | None]
    copy_of: Callable[[Any], Any]  # a gradient as a tensor of the user's, who may change it
    is_grad_enabled: Callable[[], bool]
    set_grad_enabled: Callable[[bool], object]  # is_grad_enabled, set_grad_enabled: the grad mode

    def grad_value(self, tensor: Any) -> Value | None:
        """The tensor's grad as the document shows it."""
        grad = self.grad_of(tensor)
        return None if grad is None else self.value_of(grad)

    def values(self, gradients: Iterable[Any]) -> tuple[Value | None, ...]:
        """Gradients as the document shows them; None where there is none."""
        return tuple([None if g is None else self.value_of(g) for g in gradients])


class PassKind(ABC):
    """Answers questions about the tensors and nodes of one kind, which `library` knows."""

    library: Library

    def edges_of(self, node: Any) -> Sequence[tuple[Any, int]]:
        """Where the gradients of a node go: a node or None, and which of its outputs."""
        return node.next_functions  # type: ignore[no-any-return]

    @abstractmethod
    def grad_snapshot(self, tensor: Any, is_about_to_change: bool = False) -> Any:
        """A snapshot of the tensor's grad.

        It is a `Snapshot` that also has the `grad` itself and its `value()` as the document shows it. `shows()` tells whether
        the values are the same.
        """

    @abstractmethod
    def saved_snapshot(self, node: Any) -> Snapshot:
        """A node's saved tensors as they are now."""

    def saved_after(self, before: Snapshot, node: Any, is_seen: bool) -> Snapshot:
        """The saved tensors after the call of the node. `is_seen`: the user's code may have taken part in the call."""
        return self.saved_snapshot(node)

    @abstractmethod
    def lost(self, node: Any) -> dict[str, str]:
        """The node's saved tensors that can no longer be used: by name, "stale" (modified) or "freed"."""

    @abstractmethod
    def attached(self, node: Any) -> Any:
        """What the user has attached to a node; `holds()` if the node would still do the same."""

    @abstractmethod
    def arrived(self, node: Any) -> Sequence[Snapshot]:
        """The gradients in the input buffers of a node, if the user's code may change them in place."""

    @abstractmethod
    def shows(self, node: Any, attached: Any) -> bool:
        """May the user's code keep or change gradients of this node: hooks, retain_grad, a Function's backward?"""

    @abstractmethod
    def places(self, gradients: Iterable[Any]) -> list[tuple[int, int]]:
        """Where gradients lie (None: there is no gradient): address and bytes of the memory, which views share."""

    @abstractmethod
    def touched(self, node: Any) -> list[Any]:
        """The tensors whose grad may change when the node is called."""

    @abstractmethod
    def call_node(self, touched: list[Any], edited: tuple[int, ...]) -> Ran:
        """Call the next node."""

    @abstractmethod
    def gradient(self, value: Any, node: Any, index: int) -> Any:
        """What the user typed as a gradient for an output of a node. ValueError: its shape differs, or it is not numeric."""

    @property
    def own_ranks(self) -> int:
        """Over how many ranks the gradients should be averaged, and are not; 0 if none."""
        return 0

    @abstractmethod
    def untouched(self) -> AbstractContextManager[None]:
        """Steps that run and are taken back inside leave random numbers, leaves and their grads as they were.

        That holds for all user code that they call.
        """

    @property
    @abstractmethod
    def calls_user_code(self) -> bool:
        """Are there hooks, or a Function's backward?"""

    @property
    def leaves_no_trace(self) -> bool:
        """Is a pass that was taken back invisible? Then it calls no user code, as far as is known."""
        return False
