"""Where zeros, nan and inf come from: the step at which a gradient first had them."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import NamedTuple

from ...graph.model import Document, Value
from ...graph.trace import Step
from .past import Arrival, Past
from .text import before_hooks, same


class Birth(NamedTuple):
    """Where a property of a gradient began.

    Attributes:
        step: number of the step, from 1.
        node: its node.
        how: "node" (the node's rule), "sum" (gradients added before it), "hook", "edit", or "start" (the first gradient).
    """

    step: int
    node: str
    how: str


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
    """The flags of a step: "zero", "nan", "inf" if a gradient became that.

    It may have become so by the node's rule, the sum of gradients, a hook, the user's edit, or accumulation.

    Args:
        step: the step.
        sent: what was sent to its node; empty for the first gradient of a pass. That one is flagged where it arrives.
    """
    arrived, left = ([g for g in some if g is not None] for some in (step.grad_outputs, step.grad_inputs))
    ways = [(sent, arrived), (arrived, left)]  # (before, after)
    a = step.accumulation
    if a is not None:
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
        self._of.append(self._looked_at(step, len(self._of) + 1))
        self.past.add(step)

    def of(self, step: int, index: int, name: str) -> Birth | None:
        """The birth of a property ("zero", "nan", "inf") of grad_outputs[index] of step `step` (from 1); None without it."""
        return self._of[step - 1].get((name, index))

    def _looked_at(self, step: Step, number: int) -> dict[tuple[str, int], Birth]:
        found = {}
        for index, value in enumerate(step.grad_outputs):
            for name, holds in PROPERTIES.items():
                if value is not None and holds(value):
                    found[name, index] = self._birth(step, number, index, name)
        return found

    def _birth(self, step: Step, number: int, index: int, name: str) -> Birth:
        """The birth of a property that grad_outputs[index] of this step has."""
        holds = PROPERTIES[name]
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
        there = [g for g in sender.grad_outputs if g is not None]
        hold = [PROPERTIES[name](g) for g in there]
        if there and (all(hold) if name == "zero" else any(hold)):
            return min(b for (n, _), b in self._of[arrival.step - 1].items() if n == name)
        return Birth(arrival.step, sender.node, "node")
