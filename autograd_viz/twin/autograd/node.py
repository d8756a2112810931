"""The public type of backward nodes: ``isinstance(y.grad_fn, torch.autograd.graph.Node)``."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from ..core.backward.hooks import RemovableHandle
from ..core.backward.node import Edge
from ..core.backward.node import Node as CoreNode

__all__ = ["Node"]


class Node(abc.ABC):
    """One backward function of the graph. Every `grad_fn` is an instance; none inherits from it."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        return True if cls is Node and issubclass(subclass, CoreNode) else NotImplemented

    @abc.abstractmethod
    def name(self) -> str:
        """PyTorch's name of the node: "MulBackward0"."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[Edge, ...]:
        """One edge per input of the op: (node or None, which of its outputs)."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node has run. It may return other grad_inputs."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs. It may return other grad_outputs."""
