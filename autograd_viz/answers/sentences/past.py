"""What the steps so far have sent, and where zeros, nan and inf began. It follows a trace that grows, and is shortened."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...graph.model import Document, Value
from ...graph.trace import Step
from .text import before_hooks, same


class Arrival(NamedTuple):
    """What step number `step` (from 1) sent along next_functions[edge]."""

    step: int
    edge: int
    sender: Step  # the step

    @property
    def value(self) -> Value | None:
        """The gradient; None if it sent nothing."""
        return self.sender.grad_inputs[self.edge]


Arrivals = Mapping[int, Sequence[Arrival]]  # by output of a node's op


class Past:
    """An index over the steps of one document."""

    def __init__(self, document: Document) -> None:
        self.nodes = {n.id: n for n in document.nodes}
        self.steps: list[Step] = []  # those that are in the index
        self.arrivals: dict[tuple[str, int], list[Arrival]] = {}  # at (node, output of its op), in order

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
        while len(self.steps) > count:
            for after in self.nodes[self.steps.pop().node].next_functions:
                if after.node is not None:
                    self.arrivals[after.node, after.index].pop()

    def arrived_at(self, node: str) -> dict[int, list[Arrival]]:
        """What has been sent to a node so far, by output of its op."""
        outputs = range(self.nodes[node].outputs)
        return {index: [*self.arrivals[node, index]] for index in outputs if (node, index) in self.arrivals}


def sent(arrivals: Iterable[Arrival]) -> list[Value]:
    """The gradients among them."""
    return [a.value for a in arrivals if a.value is not None]


class Birth(NamedTuple):
    """Where a property of a gradient began."""

    step: int  # number of the step, from 1
    node: str  # its node
    how: str  # "node" (its rule), "sum" (gradients added before it), "hook", "edit", or "start" (the first gradient)


def all_zero(value: Value) -> bool:
    """Are there elements, and are all of them zero?"""
    if value.summary is not None:
        return value.summary.zeros == math.prod(value.shape)
    return bool(value.numbers) and not any(value.numbers)


def has_nan(value: Value) -> bool:
    """Is an element nan?"""
    return value.summary.nans > 0 if value.summary is not None else any(map(cmath.isnan, value.numbers))


def has_inf(value: Value) -> bool:
    """Is an element infinite?"""
    return value.summary.infs > 0 if value.summary is not None else any(map(cmath.isinf, value.numbers))


PROPERTIES = {"zero": all_zero, "nan": has_nan, "inf": has_inf}


def born_in(step: Step, sent: Sequence[Value]) -> tuple[str, ...]:
    """The flags of a step: "zero", "nan", "inf" if a gradient became that by the rule, a sum, a hook, an edit, or accumulation.

    `sent` to its node was nothing for the first gradient of a pass. That one is flagged where it arrives.
    """
    arrived, left = ([g for g in some if g is not None] for some in (step.grad_outputs, step.grad_inputs))
    ways = [(sent, arrived), (arrived, left)]  # (before, after)
    if (a := step.accumulation) is not None:
        ways.append(([g for g in (a.old, a.incoming) if g is not None], [a.new]))
    return tuple(
        name
        for name, holds in PROPERTIES.items()
        if any(any(map(holds, after)) and not any(map(holds, before)) for before, after in ways)
    )


class Births:
    """Follows each property through the steps of one document. It looks at every edge once."""

    def __init__(self, document: Document) -> None:
        self.past = Past(document)
        self._of: list[dict[tuple[str, int], Birth]] = []  # by step: (property, output) -> its birth

    def follow(self, steps: tuple[Step, ...]) -> None:
        """Make these the steps, as `Past.follow` does."""
        self.past.follow(steps[: self.past.common(steps)])
        del self._of[len(self.past.steps) :]
        for step in steps[len(self.past.steps) :]:
            self.add(step)

    def add(self, step: Step) -> None:
        """Add one step."""
        there = [(i, v) for i, v in enumerate(step.grad_outputs) if v is not None]
        self._of.append({(name, i): self._birth(step, i, name) for i, v in there for name in PROPERTIES if PROPERTIES[name](v)})
        self.past.add(step)

    def of(self, step: int, index: int, name: str) -> Birth | None:
        """The birth of a property ("zero", "nan", "inf") of grad_outputs[index] of step `step` (from 1); None without it."""
        return self._of[step - 1].get((name, index))

    def _birth(self, step: Step, index: int, name: str) -> Birth:
        """The birth of a property that grad_outputs[index] of the next step has."""
        holds, number = PROPERTIES[name], len(self._of) + 1
        unhooked = before_hooks(step, index)
        if not same(unhooked, step.grad_outputs[index]) and not (unhooked is not None and holds(unhooked)):
            return Birth(number, step.node, "hook")
        if index in step.edited:
            return Birth(number, step.node, "edit")
        arrivals = [a for a in self.past.arrivals.get((step.node, index), ()) if a.value is not None]
        born = [self._sent(a, name) for a in arrivals if a.value is not None and holds(a.value)]
        if not arrivals:
            return Birth(number, step.node, "start")
        return min(born) if born and (name != "zero" or len(born) == len(arrivals)) else Birth(number, step.node, "sum")

    def _sent(self, arrival: Arrival, name: str) -> Birth:
        """The birth of a property of a sent gradient. It is at its sender, unless what arrived there had it."""
        sender = self.past.steps[arrival.step - 1]
        hold = [PROPERTIES[name](g) for g in sender.grad_outputs if g is not None]
        if hold and (all(hold) if name == "zero" else any(hold)):
            return min(b for (n, _), b in self._of[arrival.step - 1].items() if n == name)
        return Birth(arrival.step, sender.node, "node")
