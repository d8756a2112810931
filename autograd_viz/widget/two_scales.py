"""A stepper on a map, and on the figure of one of its cards: one pass at two scales."""

from __future__ import annotations

from typing import Any

from ..pictures.maps.drawing import MapDrawing
from ..pictures.maps.figure import figure_of, first_box
from ..pictures.render.drawing import Drawing
from ..stepper.stepper import Stepper
from .parts import Did, parts_of


class TwoScales:
    """The moves between map and figure, and steps over, into and out of groups and cards."""

    stepper: Stepper
    _drawing: Drawing | MapDrawing
    _map: MapDrawing | None
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
        self._redraw(drawing, look=first_box(map, drawing, what))

    def map(self) -> None:
        """Go back to the map.

        Raises:
            ValueError: there is no map.
        """
        self._try(lambda: self._redraw(self._known_map()))

    def leave(self, what: str) -> None:
        """Run to a group or card, given by title, path or id, and through it: a step over it, or out of it.

        `did` says what it did.

        Raises:
            ValueError: there is none, or it has run.
        """
        self._try(self._leave, what)

    def _leave(self, what: str) -> None:
        parts, stepper = parts_of(self._drawing), self.stepper
        part = self._drawing.plan.card(what).id if isinstance(self._drawing, MapDrawing) else parts.named(what)
        nodes = frozenset(parts.members.get(part, ()))
        if nodes <= {step.node for step in stepper.recorded[: max(0, stepper.step)]}:
            raise ValueError(f"{what!r} has no backward node that is still to run; go back to step over it again")
        stepper.leave(nodes)
        did = Did(stepper.document, parts)
        for index in range(stepper.step):
            did.ran(stepper.facts(index))
        self._did = did.said(part)

    def into(self) -> None:
        """Open the closed group that is next, and look at its first node. On a map: the figure of the card."""
        self._try(self._into)

    def _into(self) -> None:
        node, shown = self.stepper.next_node or "", self._drawing.shown.shown
        if isinstance(self._drawing, MapDrawing):
            self._to_figure(shown.get(node, ""))
        elif node in shown:
            inside = self._drawing.expanded(shown[node])
            self._redraw(inside, look=inside.shown.shown.get(node, node))

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
