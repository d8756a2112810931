"""What the steps so far have sent, and where. It follows a trace that grows, is shortened, and grows again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...graph.model import Document, Value
from ...graph.trace import Step


class Arrival(NamedTuple):
    """What step number `step` (from 1) sent along next_functions[edge].

    Attributes:
        sender: the step.
    """

    step: int
    edge: int
    sender: Step

    @property
    def value(self) -> Value | None:
        """The gradient; None if it sent nothing."""
        return self.sender.grad_inputs[self.edge]


class Past:
    """An index over the steps of one document.

    Attributes:
        steps: the steps that are in the index.
        arrivals: what has arrived at (node, output of its op), in order.
    """

    def __init__(self, document: Document) -> None:
        self.nodes = {n.id: n for n in document.nodes}
        self.steps: list[Step] = []
        self.arrivals: dict[tuple[str, int], list[Arrival]] = {}

    def follow(self, steps: tuple[Step, ...]) -> None:
        """Make these the steps. The cost depends only on what differs."""
        self.cut(self.common(steps))
        for step in steps[len(self.steps) :]:
            self.add(step)

    def common(self, steps: tuple[Step, ...]) -> int:
        """How many of the first steps are the same. If a step is the same, so are the steps before it."""
        count = min(len(self.steps), len(steps))
        while count and self.steps[count - 1] is not steps[count - 1]:
            count -= 1
        return count

    def add(self, step: Step) -> None:
        """Add one step. Its numbers are not read."""
        self.steps.append(step)
        for edge, after in enumerate(self.nodes[step.node].next_functions):
            if after.node is not None:
                self.arrivals.setdefault((after.node, after.index), []).append(Arrival(len(self.steps), edge, step))

    def cut(self, count: int) -> None:
        """Keep only the first `count` steps."""
        for _ in range(len(self.steps) - count):
            self._drop()

    def _drop(self) -> None:
        step = self.steps.pop()
        for after in self.nodes[step.node].next_functions:
            if after.node is not None:
                self.arrivals[after.node, after.index].pop()

    def arrived_at(self, node: str) -> dict[int, list[Arrival]]:
        """What has been sent to a node so far, by output of its op."""
        outputs = range(self.nodes[node].outputs)
        return {index: [*self.arrivals[node, index]] for index in outputs if (node, index) in self.arrivals}


def sent(arrivals: Iterable[Arrival]) -> list[Value]:
    """The gradients among them."""
    return [a.value for a in arrivals if a.value is not None]
