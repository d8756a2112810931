"""The results of the verbs that show: a figure, a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..export.cell import cell_bundle
from ..graph.model import Document
from ..graph.text import few_names
from ..graph.trace import State, Trace
from ..maps.drawing import MapDrawing
from ..render import theme_named
from ..render.drawing import Drawing
from ..render.escape import printable
from ..stepper.recorded import Recording

if TYPE_CHECKING:
    from ..widget.widget import StepperWidget


class Figure:
    """A picture of a graph; a notebook cell that ends in one shows it.

    Attributes:
        document: what is drawn.
        svg: the picture.
    """

    def __init__(self, drawing: Drawing, state: State, theme: str) -> None:
        self.document, self._drawn = drawing.document, drawing.shown
        self.svg = drawing.svg(state, theme_named(theme))
        self._place = drawing.place(next(iter(drawing.document.roots), ""))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self), at=self._place)

    def __repr__(self) -> str:
        freed = ", saved tensors freed" if self.document.is_freed else ""
        freed += ", forward pass reconstructed (dotted)" if any(o.reconstructed for o in self.document.ops) else ""
        groups = len(self._drawn.groups)
        freed += f", {groups} group{'s' * (groups > 1)} collapsed" if groups else ""
        names = few_names([t.name for t in self._drawn.document.tensors if t.name])
        return printable(f"<Figure of {names or 'an unnamed tensor'}: {len(self.document.nodes):,} backward nodes{freed}>")


class Map:
    """A map of a model; a notebook cell that ends in one shows it, and its cards open there.

    Attributes:
        drawing: which cards are open.
        svg: the picture.
    """

    def __init__(self, drawing: MapDrawing, state: State, theme: str) -> None:
        self.drawing, self._theme = drawing, theme
        self.svg = drawing.svg(state, theme_named("light" if theme == "auto" else theme))

    @property
    def document(self) -> Document:
        """The whole graph."""
        return self.drawing.document if self.drawing.whole is None else self.drawing.whole()

    def widget(self) -> StepperWidget:
        """The map as a widget without steps: its cards open, and show their figures."""
        from ..widget.widget import StepperWidget

        still = Recording(self.drawing.document, Trace()).stepper()
        return StepperWidget(still, 0, self.drawing, self._theme)

    def _ipython_display_(self) -> None:
        self.widget()._ipython_display_()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        plan = self.drawing.plan
        return printable(f"<Map: {plan.result}, {plan.summary(self.drawing.opened)}>")
