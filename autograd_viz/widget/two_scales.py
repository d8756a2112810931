"""A stepper on a map, and on the figure of one of its cards: one pass at two scales."""

from __future__ import annotations

from typing import Any

from ..maps.did import what_it_did
from ..maps.drawing import MapDrawing
from ..maps.figure import figure_of, first_box
from ..render import Theme
from ..render.drawing import Drawing
from ..stepper.stepper import Stepper
from .frames import FrameMaker
from .map_frames import MapFrames


class TwoScales:
    """The moves between map and figure, and steps over whole cards."""

    stepper: Stepper
    _drawing: Drawing | MapDrawing
    _map: MapDrawing | None
    _theme: Theme
    _look: str
    _did: str
    _try: Any
    _redraw: Any

    def figure(self, what: str = "") -> None:
        """Go from the map to the figure of a card, given by path or id. The rest of the graph is drawn in groups.

        Raises:
            ValueError: there is no such card, or no map.
        """
        self._try(self._to_figure, what)

    def _to_figure(self, what: str) -> None:
        map = self._known_map()
        drawing = figure_of(map, what)
        self._look = first_box(map, drawing, what)
        self._redraw(drawing)

    def map(self) -> None:
        """Go back to the map.

        Raises:
            ValueError: there is no map.
        """
        self._look = ""
        self._try(lambda: self._redraw(self._known_map()))

    def leave(self, card: str) -> None:
        """Run to a card of the map, given by path or id, and through it: a step over it, or out of it.

        Raises:
            ValueError: there is no such card, or no map; or the card has run.
        """
        self._try(self._leave, card)

    def _leave(self, card: str) -> None:
        plan, stepper = self._known_map().plan, self.stepper
        id = plan.card(card).id
        nodes = frozenset(plan.members.get(id, ()))
        if nodes <= {step.node for step in stepper.recorded[: max(0, stepper.step)]}:
            raise ValueError(f"card {card!r} has no backward node that is still to run; go back to step over it again")
        stepper.leave(nodes)
        self._did = what_it_did(plan, id, stepper.recorded[: stepper.step])

    def _first_of(self, what: Any) -> Any:
        """Of a card's path the node that runs first; anything else as it is."""
        document = self.stepper.document
        if self._map is None or not isinstance(what, str) or any(t.name == what for t in document.tensors):
            return what
        known = {"module": lambda c: c.name, "function": lambda c: c.title}
        id = next((c.id for c in self._map.plan.cards.values() if what and c.kind in known and known[c.kind](c) == what), "")
        return self._map.shown.first_node(id) if id else what

    def _known_map(self) -> MapDrawing:
        if self._map is None:
            raise ValueError("this stepper has no map: modules are unknown, or the figure was asked for")
        return self._map

    @property
    def _is_map(self) -> bool:
        return isinstance(self._drawing, MapDrawing)

    def _maker_of(self, drawing: Drawing | MapDrawing) -> FrameMaker | MapFrames:
        return MapFrames(drawing) if isinstance(drawing, MapDrawing) else FrameMaker(drawing.shown, self._theme)
