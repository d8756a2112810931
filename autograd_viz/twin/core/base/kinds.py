"""The attributes of nodes, tensors and views that lower files use. Types only."""

from __future__ import annotations

from typing import Any, Protocol


class Node(Protocol):
    """A backward node (backward/node.py)."""

    _next: Any
    _extra: Any
    _passed: Any

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """One edge per input of the op: (node or None, which of its outputs)."""

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""

    @property
    def op(self) -> str:
        """The op's name in pictures."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The inputs of the op."""

    @property
    def options(self) -> dict[str, Any]:
        """The op's other arguments by name."""

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Weak references to the results, if there are several."""

    @property
    def order(self) -> tuple[int, int]:
        """A number that rises with time over all ops and events."""

    @property
    def at(self) -> Any:
        """The line of the user's code."""

    @property
    def node(self) -> Any:
        """The node itself."""

    @property
    def _as_call(self) -> Any: ...

    @property
    def _input_metadata(self) -> tuple[Any, ...]: ...

    def name(self) -> str:
        """PyTorch's name of the node."""

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node has run."""

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook(grad_outputs)`` before the node runs."""

    def _sequence_nr(self) -> int: ...

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
    seen: int
    borrowed: bool

    @property
    def is_old(self) -> bool:
        """Has the memory changed since the view's grad_fn was made?"""

    def refresh(self, view: Any) -> None:
        """Make the view's grad_fn again if the memory has changed since."""

    def settle(self) -> None:
        """Declare the view's present grad_fn right."""
