"""The pictures of a function that runs again and again: one for each shape of its graph, and what a run writes into it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..graph.codec import to_plain
from ..pictures.layout import DETAILS
from ..pictures.layout.measure import title_of
from ..pictures.render import Writer, theme_named
from ..pictures.render.drawing import Drawing, drawing_of
from ..widget.frames import plain_lines
from ..widget.page import of_figure
from .explore_leaves import Ran

ADDRESSES = re.compile(r"""data-at=['"]([^'"]+[.:][^'"]+)['"]""")
MOST_SHAPES = 8  # of a graph, whose pictures are kept


class Pictures:
    """The pictures that were drawn. `known`: by number, that of each shape that the graph has had.
    `path`: what the graph of the last run is, but for numbers in its ops; 0 before the first.
    """

    def __init__(self) -> None:
        self.known: dict[int, dict[str, Any]] = {}
        self.path = 0
        self._shapes, self._drawings = dict[int, int](), dict[int, Drawing]()
        self._places: dict[int, list[str]] = {}  # addresses in a picture

    def shape(self, ran: Ran) -> int:
        """The number of the picture; it is drawn if the graph is of a new shape."""
        document = ran.document
        ops = [(o.name, o.inputs, o.outputs, o.node) for o in document.ops]
        nodes = [(n.id, n.name, n.next_functions, [s.name for s in n.saved]) for n in document.nodes]
        tensors = [(t.id, t.name, t.value.shape, t.is_leaf, t.requires_grad) for t in document.tensors]
        self.path = hash(repr(([(o.name, [i.tensor for i in o.inputs]) for o in document.ops], nodes, tensors)))
        shape = self._shapes.setdefault(hash(repr((ops, nodes, tensors))), len(self._shapes))
        if shape not in self.known:
            for old in [*self.known][: 1 - MOST_SHAPES]:
                del self.known[old]
            drawing = self._drawings[shape] = drawing_of(document).after(ran.state)
            figure = of_figure(drawing, theme_named("light"), False)
            self.known[shape] = {**figure, "document": to_plain(drawing.shown.document)}
            svgs = (figure["svg"], *figure["details"].values())
            self._places[shape] = [*dict.fromkeys(at for svg in svgs for at in ADDRESSES.findall(svg))]
        return shape

    def written(self, shape: int, ran: Ran) -> dict[str, Any]:
        """What is written in a picture after a run: `lines` by address, `titles` by detail and tensor, if they have values."""
        shown = replace(self._drawings[shape], document=ran.document).shown
        writer, state = Writer(shown.document, theme_named("light")), shown.state(ran.state)
        titles = {d: {t.id: title_of(t, DETAILS[d]) for t in shown.document.tensors} for d in ("brief", "names")}
        return {"lines": {at: plain_lines(writer.lines(at, state)) for at in self._places[shape]}, "titles": titles}
