"""Which picture a document has at first: by what can be read, not by a count of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph.model import Document
from ..graph.paths import ways
from ..pictures.render.drawing import AUTO, Drawing, drawing_of

if TYPE_CHECKING:
    from ..pictures.maps.drawing import MapDrawing

PAGE = (1200, 900)  # px in which a figure is read at once
MOST_NODES = 40  # a larger one is not laid out to be measured: an MLP of 12 nodes fills a page


def first_drawing(document: Document, collapse: bool | None, detail: str, steps: bool = True) -> Drawing | MapDrawing:
    """The figure if it is read at once, in full or in brief; else the map of a program with modules, scopes or functions.

    What is left is a figure, in groups if it is large. `steps`: a stepper goes over it.
    """
    if collapse is None and detail == AUTO and not _is_read_at_once(document) and any(ways(document)):
        from ..pictures.maps.drawing import MapDrawing
        from ..pictures.maps.plan import Plan

        plan = Plan(document)
        if plan.has_cards:
            return MapDrawing(plan, plan.opened(), steps=steps)
    return drawing_of(document, collapse, detail)


def _is_read_at_once(document: Document) -> bool:
    if max(len(document.nodes), len(document.ops)) > MOST_NODES:
        return False
    brief = Drawing(document, detail="brief", dense=True).without_code.geometry
    return brief.width <= PAGE[0] and brief.height <= PAGE[1]
