"""What the steps so far have sent where: follows a trace as it grows, is cut, and grows again."""

from __future__ import annotations

from typing import NamedTuple

from ..graph.model import Document, Value
from ..graph.trace import Step


class Arrival(NamedTuple):
    """A gradient that step `step` (from 1) sent along next_functions[edge]; None if it sent nothing."""

    step: int
    edge: int
    value: Value | None


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
        """Hold exactly these steps; costs as much as what is new or no longer holds."""
        for _ in range(len(self.steps) - self.common(steps)):
            self._drop()
        for step in steps[len(self.steps) :]:
            self.add(step)

    def common(self, steps: tuple[Step, ...]) -> int:
        """How many of the first steps are the same here and there; a step that is the same has the same steps before it."""
        count = min(len(self.steps), len(steps))
        while count and self.steps[count - 1] is not steps[count - 1]:
            count -= 1
        return count

    def add(self, step: Step) -> None:
        """One step more."""
        self.steps.append(step)
        for edge, (after, value) in enumerate(zip(self.nodes[step.node].next_functions, step.grad_inputs, strict=True)):
            if after.node is not None:
                self.arrivals.setdefault((after.node, after.index), []).append(Arrival(len(self.steps), edge, value))

    def _drop(self) -> None:
        step = self.steps.pop()
        for after in self.nodes[step.node].next_functions:
            if after.node is not None:
                self.arrivals[after.node, after.index].pop()

    def gradients(self, node: str, index: int) -> list[Value]:
        """The gradients that have arrived there."""
        return [a.value for a in self.arrivals.get((node, index), ()) if a.value is not None]
