"""The attributes of nodes (backward/node.py), tensors (tensor/tensor.py) and views (op/view.py) that lower files use."""
# ruff: noqa: D102 -- types only: the files above describe them

from __future__ import annotations

from typing import Any, Protocol


class Node(Protocol):
    """A backward node."""

    _extra: Any

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]: ...
    @property
    def metadata(self) -> dict[Any, Any]: ...
    @property
    def _as_call(self) -> Any: ...
    def name(self) -> str: ...
    def register_hook(self, hook: Any) -> Any: ...
    def register_prehook(self, hook: Any) -> Any: ...
    def _more_of(self) -> Any: ...
    def __call__(self, *grads: Any) -> Any: ...


class Tensor(Protocol):
    """A tensor."""

    _counter: Any
    _extra: Any
    _node: Any
    _made_by: Any

    @property
    def _more(self) -> Any: ...


class View(Protocol):
    """How a view depends on its base."""

    base: Any
    cuts: Any
    kind: str
    borrowed: bool

    @property
    def is_old(self) -> bool: ...
    def refresh(self, view: Any) -> None: ...
    def settle(self) -> None: ...
