"""The gradients of one backward pass, and their norms. It runs as a whole, or by steps where it must.

# Note [Where the pass must be stepped]
A whole pass ends before the leaves' AccumulateGrads, so no `grad` is written: its sum is computed beside it. That differs from
`backward()` where the user's code runs: hooks, or the backward of a Function, which may start a pass or write into its saved
tensors. Then each node is called as a step calls it, and taken back. The same happens in anomaly mode, before PyTorch 2.5, and
where ranks exchange gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ....graph.text import norm_of
from ....graph.trace import Step
from ....runtime.interrupts import breakable, whole
from .step import Ran
from .undoable_pass import Pass

Place = tuple[str, str, int]


def norms_by_steps(live: Pass, wanted: Collection[Place] | None) -> dict[Place, float]:
    """The norms from the steps of a pass; all steps are taken back. Only gradients at wanted places are read."""
    leaves = {n.id: n.variable for n in live.graph.document.nodes if n.variable is not None}
    found: dict[Place, float | None] = {}

    def heard(ran: Ran) -> None:
        for way, grads in (("in", ran.arrived), ("out", ran.left)):
            asked = [k for k in range(len(grads)) if wanted is None or (ran.node, way, k) in wanted]
            values = ran.read([grads[k] for k in asked])
            found.update({(ran.node, way, k): norm_of(value) for k, value in zip(asked, values, strict=True)})

    def note(step: Step) -> None:
        place = (leaves.get(step.node, ""), "grad", 0)
        if place[0] and (wanted is None or place in wanted) and step.accumulation is not None:
            found[place] = norm_of(step.accumulation.new)

    live.heard = heard
    _rehearse(live, note)
    return {place: n for place, n in found.items() if n is not None}


def each_arrival(
    live: Pass, wanted: Collection[Place], take: Callable[[Place, Any], None], array_of: Callable[[Any], Any]
) -> None:
    """Run a pass and take it back. `take` gets, as `array_of` reads it, each gradient that arrives at a wanted place."""

    def heard(ran: Ran) -> None:
        for k, raw in enumerate(ran.arrived):
            if raw is not None and (ran.node, "in", k) in wanted and (array := array_of(raw)) is not None:
                take((ran.node, "in", k), array)

    live.heard = heard
    _rehearse(live, lambda step: None)


def _rehearse(live: Pass, note: Callable[[Step], None]) -> None:
    """Run a pass, hand over each step, and take all of them back."""
    live.shows_jacobians, done = False, 0
    with whole(), live.untouched():
        try:
            with breakable():
                while (step := live.advance()) is not None:
                    done += 1
                    note(step)
        finally:
            for k in reversed(range(done)):
                live.undo(k)
