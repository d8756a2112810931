"""A question about one tensor, and the sources of its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...graph.passes import Holder
from .facts import Facts
from .history import Event, History, Op, PassEvent
from .paths import number_between, reaches, with_history

CHOICES = ("__bool__", "__contains__")  # nothing is computed with a truth value


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
    def op(self) -> Op | None:
        """The op that made the tensor."""
        return self.history.op_of(self.tensor)

    @cached_property
    def subject(self) -> Any:
        """The tensor's op, or the tensor itself if it is a leaf: its entry in the history."""
        return self.op or self.tensor

    @cached_property
    def grad(self) -> Any:
        """The tensor's grad."""
        return self.history.grad_of(self.tensor)

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

    @cached_property
    def optimizers(self) -> list[Holder]:
        """The optimizers that step the tensor."""
        return [h for h in self.history.optimizers(self.tensor) if h.holds]

    @cached_property
    def number(self) -> tuple[Op, Op] | None:
        """The op that made a number of a path from the tensor, and the op that computed with it on the way to the root."""
        numbers = [op for op in self.history.left if op.name not in CHOICES]
        return None if self.root_op is None else number_between(self.root_op, self.subject, numbers)

    def events(self, *kinds: str) -> list[Event]:
        """The tensor's events of these kinds, in order."""
        return self.history.events_of(self.tensor, *kinds)

    def is_reached_from(self, root: Op | None) -> bool:
        """Does a gradient of an op reach the tensor?"""
        return root is not None and reaches(root, self.subject)
