"""The figure as SVG. It has only presentation attributes, so every program draws it alike.

A page uses `class` and `data-at` to restyle and step the same picture (Note [Addresses] in graph/trace.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from ... import words
from ...graph.model import Document
from ...graph.text import few_names
from ...graph.trace import State
from ..layout.geometry import Geometry
from .arrow_painter import ArrowPainter
from .box_painter import BoxPainter
from .caption import caption_elements, caption_height, caption_lines
from .escape import element, text
from .paths import own_pieces
from .theme import Theme

FONT = "DejaVu Sans Mono"
FALLBACK = f"{FONT}, Menlo, Consolas, Liberation Mono, monospace"


def render_svg(document: Document, geometry: Geometry, state: State, theme: Theme, caption: str = "") -> str:
    """The picture of a document in a state.

    Args:
        document: what to draw.
        geometry: `layout(document)`.
        state: which values to show, and which step has just run (its node is lit).
        theme: colours and words.
        caption: words under the picture.
    """
    return framed(painted(document, geometry, state, theme), geometry, theme, caption)


def painted(document: Document, geometry: Geometry, state: State, theme: Theme) -> tuple[str, list[str], list[str]]:
    """The parts for `framed`: a title that says what the picture shows, everything drawn, and the code."""
    painter = _Painter(document, geometry, state, theme)
    return element("title", text(painter.summary())), [*painter.everything()], [painter.code(line) for line in geometry.code]


def framed(parts: tuple[str, list[str], list[str]], geometry: Geometry, theme: Theme, caption: str = "") -> str:
    """The picture of what is `painted`, with a caption; the code is left out if the geometry has none."""
    g, (title, everything, code) = geometry, parts
    lines = caption_lines(caption, g.width)
    height = g.height + caption_height(lines)
    box = f"{g.x:g} {g.y:g} {g.width:g} {height:g}"
    ground = element("rect", x=g.x, y=g.y, width=g.width, height=height, fill=theme.canvas, class_="f-canvas")
    below = caption_elements(lines, g.x, g.y + g.height, theme)
    content = "\n".join([title, ground, *everything, *(code if g.code else ()), *below])
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=box, width=g.width, height=height,
        font_family=FALLBACK, role="img",
    )  # fmt: skip


class _Painter(BoxPainter, ArrowPainter):
    """Draws the parts of one picture."""

    def __init__(self, document: Document, geometry: Geometry, state: State, theme: Theme) -> None:
        super().__init__(document, state, theme, geometry.sizes)
        self.geometry = geometry

    def summary(self) -> str:
        """What the picture shows, in one line, for readers who cannot see it."""
        names = [t.name for t in self.document.tensors if t.name]
        counts = {"ops": len(self.document.ops), "nodes": len(self.document.nodes)}
        return words.PICTURE_OF.format(names=few_names(names, words.COMMA) or words.PICTURE_UNNAMED, **counts)

    def everything(self) -> Iterable[str]:
        """Frames, boxes, thin arrows, thick arrows; on top the arrows of the last step, and labels."""
        for frame in self.geometry.frames:
            yield self.frame(frame)
        for box in self.geometry.boxes:
            yield self.box(box)
        pieces = own_pieces(tuple(self.arrow_from_below(a) for a in self.geometry.arrows))
        for arrow in sorted(self.geometry.arrows, key=lambda a: (a.at in self.fresh, a.kind in ("input", "result", "retain"))):
            yield self.arrow(arrow, pieces[arrow.at])
        for label in self.geometry.labels:
            yield self.label(label)
