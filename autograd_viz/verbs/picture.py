"""The results of the verbs that show, a figure or a map; and which of them a document has at first: what can be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..graph import Document, State, Trace
from ..graph.paths import may_have_ways
from ..graph.text import few_names
from ..pictures.files.cell import cell_bundle
from ..pictures.render import printable, theme_named
from ..pictures.render.drawing import AUTO, Drawing, drawing_of
from ..runtime.collector import collector_waits
from ..runtime.uncopied import Uncopied
from .results import show_in_cell

if TYPE_CHECKING:
    from ..pictures.maps.drawing import MapDrawing
    from ..widget.widget import StepperWidget

PAGE = (1200, 900)  # px in which a figure is read at once
MOST_NODES = 40  # a larger one is not laid out to be measured: an MLP of 12 nodes fills a page


def first_drawing(document: Document, collapse: bool | None, detail: str, steps: bool = True) -> Drawing | MapDrawing:
    """The figure if it is read at once, in full or in brief; else the map of a program with modules, scopes or functions.

    What is left is a figure, in groups if it is large. `steps`: a stepper goes over it.
    """
    if collapse is None and detail == AUTO and not _is_read_at_once(document) and may_have_ways(document):
        from ..pictures.maps.drawing import MapDrawing
        from ..pictures.maps.plan import Plan

        plan = Plan(document)
        if plan.has_cards:
            return MapDrawing(plan, plan.opened(), steps=steps)
    return drawing_of(document, collapse, detail)


def whole_in(room: tuple[float, float], document: Document, lit: str | None = None) -> Drawing:
    """The most detailed drawing that is whole in so many px, or the least detailed one; what is `lit` is in no closed group."""
    for detail in ("full", "brief", "names"):
        drawing = replace(drawing_of(document, detail=detail), dense=True)
        drawing = drawing if lit is None else drawing.revealing(lit)
        geometry = drawing.without_code.geometry
        if geometry.width <= room[0] and geometry.height <= room[1]:
            break
    return drawing


def _is_read_at_once(document: Document) -> bool:
    if max(len(document.nodes), len(document.ops)) > MOST_NODES:
        return False
    brief = Drawing(document, detail="brief", dense=True).without_code.geometry
    return brief.width <= PAGE[0] and brief.height <= PAGE[1]


class Shown:
    """What a notebook cell shows with zoom and pan, and as a picture where no widget lives."""

    drawing: Drawing | MapDrawing
    svg: str
    _theme: str
    _state: State
    _at: tuple[float, float] = (0.0, 0.0)

    def svg_in(self, theme: str) -> str:
        """The picture in a theme."""
        return self.drawing.svg(self._state, theme_named(theme))

    def widget(self) -> StepperWidget:
        """It as a widget without steps."""
        with collector_waits():
            from ..stepper.recorded import Recording
            from ..widget.widget import StepperWidget

            return StepperWidget(Recording(self.drawing.document, Trace()).stepper(), 0, self.drawing, self._theme)

    def _display_(self) -> StepperWidget:
        """What marimo shows."""
        return self.widget()

    def _ipython_display_(self) -> None:
        show_in_cell(repr(self), self.widget, self._picture)

    def _picture(self, mark: str | None = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self), mark, at=self._at)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self._picture()


class Figure(Shown):
    """A picture (`svg`) of a graph (`document`); a notebook cell that ends in one shows it, with zoom and pan."""

    drawing: Drawing

    def __init__(self, drawing: Drawing, state: State, theme: str) -> None:
        self.document, self._theme, self._state = drawing.document, theme, state
        self.drawing = drawing.after(state)
        self.svg = self.svg_in("light" if theme == "auto" else theme)
        self._at = self.drawing.place(next(iter(drawing.document.roots), ""))

    def __repr__(self) -> str:
        freed = ", saved tensors freed" if self.document.is_freed else ""
        freed += ", forward pass reconstructed (dotted)" if any(o.reconstructed for o in self.document.ops) else ""
        groups = len(self.drawing.shown.groups)
        freed += f", {groups} group{'s' * (groups > 1)} collapsed" if groups else ""
        names = few_names([t.name for t in self.drawing.shown.document.tensors if t.name])
        return printable(f"<Figure of {names or 'an unnamed tensor'}: {len(self.document.nodes):,} backward nodes{freed}>")


class Map(Uncopied, Shown):
    """A map of a model (`svg`); a notebook cell that ends in one shows it. Its cards open there, as `drawing` says."""

    kind = "map"

    drawing: MapDrawing

    def __init__(self, drawing: MapDrawing, state: State, theme: str, root: Any = None) -> None:
        self.drawing, self._theme, self._state = drawing, theme, state
        self._root = root  # the figure of a card reads its graph
        self.svg = self.svg_in("light" if theme == "auto" else theme)

    @property
    def document(self) -> Document:
        """The whole graph."""
        return self.drawing.document if self.drawing.whole is None else self.drawing.whole()

    def __repr__(self) -> str:
        plan = self.drawing.plan
        return printable(f"<Map: {plan.result}, {plan.summary(self.drawing.opened)}>")
