"""What a widget shows of its stepper: a map, or the figure of one of its cards; the frames, and which of them the page has."""

from __future__ import annotations

from typing import Any

from ..pictures.maps.drawing import MapDrawing, figure_of, first_box
from ..pictures.render import Theme
from ..pictures.render.drawing import Drawing
from ..stepper.stepper import Stepper
from .frames import StepFrames
from .parts import Did, parts_of

Look = tuple[Drawing | MapDrawing, str]  # a drawing, and the box to look at


class View:
    """One pass at two scales, frame by frame. Frames are made when somebody reads them.

    `drawing` is shown; `map` is there also while the figure of a card is shown, None if there is none. `is_read`: somebody has
    read the frames, so new ones are sent; else there may be no page. `known`: how many frames the page has.
    """

    def __init__(self, stepper: Stepper, drawing: Drawing | MapDrawing, theme: Theme) -> None:
        self._stepper, self._theme = stepper, theme
        self._frames = list[dict[str, Any]]()
        self._maker: StepFrames | None = StepFrames(stepper, drawing, theme)  # None after close()
        self.drawing = drawing
        self.map = drawing if isinstance(drawing, MapDrawing) else None
        self.is_read, self.known = False, 0

    def frames(self) -> list[dict[str, Any]]:
        """They are being read: make the missing ones."""
        if self._maker is not None:
            self.is_read = True
            for index in range(len(self._frames), len(self._stepper.recorded)):
                self._frames.append(self._maker.frame(index))
        return self._frames

    def news(self) -> dict[str, Any]:
        """The frames that the page does not have yet. A page asks for those that it misses."""
        count = len(self._stepper.recorded)
        begin, self.known = self.known if self.is_read else count, count
        return {"from": begin, "frames": self.frames()[begin:] if self.is_read else []}

    def cut(self, length: int) -> None:
        """Recorded steps from `length` on are no longer valid."""
        del self._frames[length:]
        self._maker = StepFrames(self._stepper, self.drawing, self._theme)
        for index in range(len(self._frames)):
            self._maker.pass_over(index)
        self.known = min(self.known, length)

    def draw(self, drawing: Drawing | MapDrawing) -> None:
        """Show another drawing of the same pass."""
        self._maker, self.known = StepFrames(self._stepper, drawing, self._theme), 0
        self.drawing = drawing
        self.map = drawing if isinstance(drawing, MapDrawing) else self.map
        self._frames.clear()

    def close(self) -> None:
        """Free the frames."""
        self._maker, self.is_read = None, False
        self._frames.clear()

    def known_map(self) -> MapDrawing:
        """The map. ValueError: there is none."""
        if self.map is None:
            raise ValueError("this stepper has no map: modules are unknown, or the figure was asked for")
        return self.map

    def figure(self, what: str) -> Look:
        """The figure of a card."""
        map = self.known_map()
        drawing = figure_of(map, what)
        return drawing, first_box(map, drawing, what)

    def inside(self) -> Look | None:
        """The closed group that is next, open; of a map the figure of the card; None if the next node is in none."""
        node, shown = self._stepper.next_node or "", self.drawing.shown.shown
        if isinstance(self.drawing, MapDrawing):
            return self.figure(shown.get(node, ""))
        if node not in shown:
            return None
        drawing = self.drawing.expanded(shown[node])
        return drawing, drawing.shown.shown.get(node, node)

    def leave(self, what: str) -> str:
        """Run to a group or card and through it; gives what it did."""
        parts, stepper = parts_of(self.drawing), self._stepper
        part = self.drawing.plan.card(what).id if isinstance(self.drawing, MapDrawing) else parts.named(what)
        nodes = frozenset(parts.members.get(part, ()))
        if nodes <= {step.node for step in stepper.recorded[: max(0, stepper.step)]}:
            raise ValueError(f"{what!r} has no backward node that is still to run; go back to step over it again")
        stepper.leave(nodes)
        did = Did(stepper.document, parts)
        for index in range(stepper.step):
            did.ran(stepper.facts(index))
        return did.said(part)

    def first_of(self, what: Any) -> Any:
        """Of a card's path the node that runs first; anything else as it is."""
        if self.map is None or not isinstance(what, str) or any(t.name == what for t in self._stepper.document.tensors):
            return what
        known = {"module": lambda c: c.name, "function": lambda c: c.title}
        id = next((c.id for c in self.map.plan.cards.values() if what and c.kind in known and known[c.kind](c) == what), "")
        return self.map.shown.first_node(id) if id else what

    def meant(self, id: str) -> Any:
        """The document's own tensor or node of an id on the page, since a variable may also be called "t3".

        A group stands for its first node to run.
        """
        id = self.drawing.shown.first_node(id)
        targets = self._stepper.targets
        return targets.nodes.get(id) or targets.tensors.get(id) or id
