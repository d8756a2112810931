"""The figure as SVG. It has only presentation attributes, so every program draws it alike.

A page uses `class` and `data-at` to restyle and step the same picture (Note [Addresses] in graph/trace.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ... import words
from ...graph.model import Document
from ...graph.text import few_names
from ...graph.trace import State
from ..layout.geometry import Arrow, Geometry
from .box_painter import BoxPainter
from .caption import caption_elements, caption_height, caption_lines
from .escape import element, text
from .paths import head, own_pieces, rounded
from .pen import PALE, Pen, tensor_kind
from .theme import Theme

FONT = "DejaVu Sans Mono"
TITLE = 28  # px above a picture, for its title
FALLBACK = f"{FONT}, Menlo, Consolas, Liberation Mono, monospace"


def render_svg(document: Document, geometry: Geometry, state: State, theme: Theme, caption: str = "") -> str:
    """The picture of a document in a state, with a caption under it. The node of the step that has just run is lit."""
    return framed(painted(document, geometry, state, theme), geometry, theme, caption)


def painted(document: Document, geometry: Geometry, state: State, theme: Theme) -> tuple[str, list[str], list[str]]:
    """The parts for `framed`: a title that says what the picture shows, everything drawn, and the code."""
    boxes = BoxPainter(document, state, theme, geometry.sizes)
    arrows = ArrowPainter(document, state, theme, geometry.sizes)
    names = few_names([t.name for t in document.tensors if t.name], words.COMMA) or words.PICTURE_UNNAMED
    summary = words.PICTURE_OF.format(names=names, ops=len(document.ops), nodes=len(document.nodes))
    shared = sorted(geometry.arrows, key=arrows.is_pale)  # what a pale arrow shares with another is not pale
    pieces = own_pieces(tuple(map(arrows.arrow_from_below, shared)))
    # pale arrows, thin ones, then thick ones; those of the last step are on top
    upwards = sorted(
        geometry.arrows, key=lambda a: (a.at in arrows.fresh, a.kind in ("input", "result", "retain"), not arrows.is_pale(a))
    )
    drawn = [
        *map(boxes.frame, geometry.frames),
        *map(boxes.box, geometry.boxes),
        *(arrows.arrow(arrow, pieces[arrow.at]) for arrow in upwards),
        *map(boxes.label, geometry.labels),
    ]
    return element("title", text(summary)), drawn, [boxes.code(line) for line in geometry.code]


def framed(parts: tuple[str, list[str], list[str]], geometry: Geometry, theme: Theme, caption: str = "") -> str:
    """The picture of what is `painted`, with a caption; the code is left out if the geometry has none."""
    g, (title, everything, code) = geometry, parts
    lines = caption_lines(caption, g.width)
    height = g.height + caption_height(lines)
    box = f"{g.x:g} {g.y:g} {g.width:g} {height:g}"
    ground = element("rect", x=g.x, y=g.y, width=g.width, height=height, fill=theme.canvas, class_="f-canvas")
    below = caption_elements(lines, g.x, g.y + g.height, theme)
    content = "\n".join([title, ground, *everything, *(code if g.code else ()), *below])
    return whole_picture(content, g.width, height, box)


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of one of our pictures, in px."""
    width, height = re.findall(r'viewBox="\S+ \S+ (\S+) (\S+)"', svg)[0]
    return float(width), float(height)


def whole_picture(content: str, width: float, height: float, box: str = "") -> str:
    """An SVG of so many px, from (0, 0) on or with another view box."""
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=box or f"0 0 {width:g} {height:g}", width=width,
        height=height, font_family=FALLBACK, role="img",
    )  # fmt: skip


def stacked(pictures: Sequence[tuple[str, str]], theme: Theme) -> str:
    """Several pictures, each under its title, in one."""
    parts, width, y = [], 0.0, 0.0
    for title, svg in pictures:
        wide, high = size_of(svg)
        y += TITLE
        parts.append(element("text", text(title), x=8, y=y - 8, font_size=14, font_weight="bold", fill=theme.colours()["text"]))
        parts.append(svg.replace("<svg ", f'<svg y="{y:g}" ', 1))
        y, width = y + high, max(width, wide)
    ground = element("rect", width=width, height=y, fill=theme.canvas)
    return whole_picture(ground + "".join(parts), width, y)


class ArrowPainter(Pen):
    """Draws arrows."""

    def arrow(self, arrow: Arrow, pieces: list[list[tuple[float, float]]]) -> str:
        """The arrow's own pieces, its head, and a hidden path for the moving number."""
        role, width, size = self.arrow_style(arrow)
        fresh = arrow.at in self.fresh
        if fresh and role == "blue-stroke":
            role, width, size = "grad", 2.4, 11.0
            pieces = [list(arrow.points)]
        colour, name = self.colour[role], role.removesuffix("-stroke")
        last = arrow.points[-1]
        paths = [rounded(p, size - 1 if p[-1] == last else 0) for p in pieces]
        lines = [self.line(d, colour, width, f"line s-{name}") for d in paths]
        if arrow.kind in ("next", "grad", "grad_fn", "retain"):
            is_whole = pieces == [list(arrow.points)]
            way = paths[0] if is_whole else rounded(list(arrow.points), size - 1)
            lines.append(self.line(way, "none", width, "way"))
        tip = element("path", d=head(arrow.points, size), fill=colour, class_=f"tip fs-{name}")
        names = f"arrow {arrow.kind}{' fresh' if fresh else ''}"
        faint = self.faint(arrow.source, arrow.target)
        faint = PALE if faint is None and self.is_pale(arrow) else faint
        return element("g", "".join(lines) + tip, class_=names, opacity=faint, data_at=arrow.at)

    def is_pale(self, arrow: Arrow) -> bool:
        """Does no pass from the roots go along it?"""
        return arrow.at not in self.fresh and not self.unreached.isdisjoint((arrow.source, arrow.target))

    def arrow_from_below(self, arrow: Arrow) -> Arrow:
        """An arrow out of a tensor starts 4 px below its box; in brief rows are too near for that."""
        if self.sizes.detail != "full" or arrow.kind != "input" or arrow.source not in self.tensors:
            return arrow
        (x, y), *others = arrow.points
        return replace(arrow, points=((x, y + 4), *others))

    def arrow_style(self, arrow: Arrow) -> tuple[str, float, float]:
        """Colour, line width and head size. Thick: takes part in autograd; thin: does not. The backward graph is thin."""
        if arrow.kind == "retain":
            return "hook", 6.0, 18.0
        kind = "blue"
        if arrow.kind == "result":
            kind = "brown" if self.ops[arrow.source].node is not None else "yellow"
        elif arrow.kind == "input":
            kind = tensor_kind(self.tensors[arrow.net[1]])
        return f"{kind}-stroke", *((1.2, 9.0) if kind in ("blue", "yellow") else (3.0, 13.0))
