"""A question about one tensor, and the sources of its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .facts import Facts
from .history import History, Op, PassEvent
from .paths import with_history


@dataclass
class Question:
    """Why is the grad of a tensor what it is?

    Attributes:
        tensor: of the core or of PyTorch.
        root: the tensor that its gradient should come from; None if not given.
        history: what has run.
        name_of: gives the user's name of a tensor.
        look: reads the graph and the numbers of the last pass. It is expensive, so it runs only if an answer needs it.
    """

    tensor: Any
    root: Any
    history: History
    name_of: Callable[[Any], str | None]
    look: Callable[[], Facts]

    @cached_property
    def facts(self) -> Facts:
        """The graph, and the numbers of the last pass."""
        return self.look()

    @cached_property
    def is_leaf(self) -> bool:
        """Did no op make the tensor?"""
        return self.history.is_leaf(self.tensor)

    @cached_property
    def subject(self) -> Any:
        """The tensor's op, or the tensor itself if it is a leaf: its entry in the history."""
        return self.history.op_of(self.tensor) or self.tensor

    @cached_property
    def ops(self) -> set[Op]:
        """The ops that a gradient of the root reaches."""
        return set() if self.root_op is None else with_history([self.root_op])

    @cached_property
    def passes(self) -> list[PassEvent]:
        """The calls of backward() that add to grads."""
        return [p for p in self.history.passes if p.name == "backward"]

    @cached_property
    def last(self) -> PassEvent | None:
        """The last one of `passes`."""
        return self.passes[-1] if self.passes else None

    @cached_property
    def root_op(self) -> Op | None:
        """The op that made the root: the given root, or that of the last pass."""
        if self.root is not None:
            return self.history.op_of(self.root)
        return None if self.last is None else self.last.root
