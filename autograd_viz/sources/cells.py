"""What one step changes, as it was at one moment: so that a step can be taken back, done again, or run anew."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.engine import GraphTask
from ..core.node import Node
from ..core.tensor import Tensor

FEW = 64  # elements; larger gradients are compared by object and version only


class GradCell:
    """A tensor's `grad`: the object, and a copy of its values (accumulation changes them in place)."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.grad = tensor, tensor._grad
        self.values = None if self.grad is None else self.grad._data.copy()
        self.version = 0 if self.grad is None else self.grad._version

    def restore(self) -> None:
        """Make it so again."""
        self.tensor._grad = self.grad
        if self.grad is not None and self.values is not None:
            self.grad._data[...] = self.values
            self.grad._shared_counter()[0] = self.version

    def holds(self) -> bool:
        """Is it still so?"""
        grad = self.tensor._grad
        if grad is not self.grad or grad is None or self.values is None:
            return grad is self.grad
        if grad._version != self.version or grad._data.shape != self.values.shape:
            return False
        is_float = grad._data.dtype.kind in "fc"
        return self.values.size > FEW or np.array_equal(grad._data, self.values, equal_nan=is_float)


class SavedCell:
    """A node's saved tensors, and what had passed through it."""

    def __init__(self, node: Node) -> None:
        self.node, self.remembered = node, node._remember()

    def restore(self) -> None:
        """Make it so again."""
        self.node._recall(self.remembered)

    def holds(self) -> bool:
        """Is it still so? What has passed is of no account."""
        return all(map(operator.is_, self.node._remember()[1:], self.remembered[1:]))


class EngineCell:
    """The engine around one node: what lay ready for it and its receivers, and the queue."""

    def __init__(self, task: GraphTask, node: Node) -> None:
        self.task, self.node = task, node
        self.queue = list(task.ready._heap)
        around = {node, *(after for after in node._next if after is not None)}
        self.inboxes = {n: list(task.inbox[n]) for n in around if n in task.inbox}
        self.was_looked_at = node in task.looked_at

    def restore(self) -> None:
        """Make it so again."""
        self.task.ready._heap[:] = self.queue
        for node, inbox in self.inboxes.items():
            self.task.inbox[node][:] = inbox
        if not self.was_looked_at:
            self.task.looked_at.discard(self.node)


Cell = GradCell | SavedCell
Remembered = dict[str, Any]
