"""The frames of a drawing: what the picture shows of each step, with what stops, pins and panels need to know of it."""

from __future__ import annotations

from typing import Any

from ..graph.text import Labels
from ..graph.trace import Engine
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render import Theme
from ..pictures.render.drawing import Drawing
from ..pictures.render.escape import printable
from ..stepper.stepper import Stepper
from .frames import FrameMaker
from .map_frames import MapFrames
from .parts import Did, parts_of

MOST_READY = 5  # ready nodes that are named where boxes hide them


class Framed:
    """Turns the recorded steps of a stepper into frames, in order.

    Args:
        stepper: its steps.
        drawing: of its document.
        theme: of a figure.
    """

    def __init__(self, stepper: Stepper, drawing: Drawing | MapDrawing, theme: Theme) -> None:
        self._stepper, self._hidden = stepper, drawing.shown.shown
        self._maker = MapFrames(drawing) if isinstance(drawing, MapDrawing) else FrameMaker(drawing.shown, theme)
        self._did = Did(stepper.document, parts_of(drawing))
        self._labels = Labels(stepper.document)

    def frame(self, index: int) -> dict[str, Any]:
        """The next frame: that of `FrameMaker` or `MapFrames`, and

        Returns:
            facts: see stepper/facts.py.
            did: by part that the step has left, what it did.
            ran: the name of the node, if a box hides it.
            ready: see `ready`.
        """
        stepper = self._stepper
        step, facts = stepper.recorded[index], stepper.facts(index)
        made = self._maker.frame(step, stepper.sentence_at(index + 1))
        did = self._did.left(facts, step.engine.queue[0] if step.engine.queue else "")
        ran = self._name(step.node) if step.node in self._hidden else ""
        return {**made, "facts": facts.plain(), "did": did, "ran": ran, "ready": self.ready(step.engine)}

    def pass_over(self, index: int) -> None:
        """Pass over a step that already has a frame."""
        self._maker.pass_over(self._stepper.recorded[index])
        self._did.ran(self._stepper.facts(index))

    def ready(self, engine: Engine) -> list[tuple[str, str]]:
        """The box and the name of each node that could run now; [] if no box hides one."""
        first = engine.queue[:MOST_READY]
        return [(self._hidden[n], self._name(n)) if n in self._hidden else (n, "") for n in first] if self._hides(first) else []

    def _hides(self, nodes: tuple[str, ...]) -> bool:
        return not self._hidden.keys().isdisjoint(nodes)

    def _name(self, node: str) -> str:
        return printable(self._labels.of(node))
