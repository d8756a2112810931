"""The attributes of nodes, tensors and views that lower files use. Types only."""

from __future__ import annotations

from typing import Any, Protocol


class Node(Protocol):
    """A backward node (backward/node.py)."""

    _extra: Any

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """One edge per input of the op: (node or None, which of its outputs)."""

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""

    @property
    def _as_call(self) -> Any: ...

    def name(self) -> str:
        """PyTorch's name of the node."""

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node has run."""

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook(grad_outputs)`` before the node runs."""

    def _more_of(self) -> Any: ...

    def __call__(self, *grads: Any) -> Any:
        """Run the node by hand."""


class Tensor(Protocol):
    """A tensor (tensor/tensor.py)."""

    _counter: Any
    _extra: Any
    _node: Any
    _made_by: Any

    @property
    def _more(self) -> Any: ...


class View(Protocol):
    """How a view depends on its base (op/view.py)."""

    base: Any
    cuts: Any
    kind: str
    borrowed: bool

    @property
    def is_old(self) -> bool:
        """Has the memory changed since the view's grad_fn was made?"""

    def refresh(self, view: Any) -> None:
        """Make the view's grad_fn again if the memory has changed since."""

    def settle(self) -> None:
        """Declare the view's present grad_fn right."""
