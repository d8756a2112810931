"""A question about one tensor, and where its answers are looked up."""

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
        tensor: of the core's or of PyTorch's.
        root: the tensor that its gradient should come from; None if nobody said.
        history: what has run.
        name_of: what the user calls a tensor.
        look: reads the graph and the numbers of the last pass: dear, so only where an answer needs them.
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
    def subject(self) -> Any:
        """The tensor's op, or itself if it is a leaf: what leads on in the history."""
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
        """The last of them."""
        return self.passes[-1] if self.passes else None

    @cached_property
    def root_op(self) -> Op | None:
        """The op that made the root: of the one that was named, or of the last pass."""
        if self.root is not None:
            return self.history.op_of(self.root)
        return None if self.last is None else self.last.root
