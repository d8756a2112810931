"""A stepper on a map, and on the figure of one of its cards: the same pass at two scales."""

from __future__ import annotations

from typing import Any

from ..maps.did import what_it_did
from ..maps.drawing import MapDrawing
from ..maps.figure import figure_of, first_box
from ..render import Theme
from ..render.drawing import Drawing
from ..stepper.stepper import Stepper
from ..stepper.stops import Stopped
from .frames import FrameMaker
from .map_frames import MapFrames


class TwoScales:
    """The moves between map and figure, and the steps of a whole card."""

    stepper: Stepper
    _drawing: Drawing | MapDrawing
    _map: MapDrawing | None
    _theme: Theme
    _look: str
    _try: Any
    _redraw: Any

    def figure(self, what: str = "") -> None:
        """From the map to the figure of a card, given by path or id; the rest of the graph is drawn in groups.

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
        """Back to the map.

        Raises:
            ValueError: there is no map.
        """
        self._look = ""
        self._try(lambda: self._redraw(self._known_map()))

    def leave(self, card: str) -> None:
        """Run until what is next is no longer in a card of the map, given by path or id: a step over it, or out of it.

        Raises:
            ValueError: there is no such card, or no map.
        """
        self._try(self._leave, card)

    def _leave(self, card: str) -> None:
        plan, begin = self._known_map().plan, max(0, self.stepper.step)
        id = plan.card(card).id
        self.stepper.leave(frozenset(plan.members.get(id, ())))
        did = what_it_did(plan, id, self.stepper.recorded[begin : self.stepper.step])
        self.stepper.stopped = Stopped("left", "", did)

    def _known_map(self) -> MapDrawing:
        if self._map is None:
            raise ValueError("this stepper has no map: modules are unknown, or the figure was asked for")
        return self._map

    @property
    def _is_map(self) -> bool:
        return isinstance(self._drawing, MapDrawing)

    def _maker_of(self, drawing: Drawing | MapDrawing) -> FrameMaker | MapFrames:
        return MapFrames(drawing) if isinstance(drawing, MapDrawing) else FrameMaker(drawing.shown, self._theme)
