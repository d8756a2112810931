"""The arrows of a picture, of both graphs."""

from __future__ import annotations

from dataclasses import replace

from ..layout.geometry import Arrow
from .escape import element
from .paths import head, rounded
from .pen import Pen, tensor_kind


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
        return element("g", "".join(lines) + tip, class_=names, opacity=faint, data_at=arrow.at)

    def arrow_from_below(self, arrow: Arrow) -> Arrow:
        """An arrow out of a tensor starts 4 px below its box."""
        if arrow.kind != "input" or arrow.source not in self.tensors:
            return arrow
        (x, y), *others = arrow.points
        return replace(arrow, points=((x, y + 4), *others))

    def arrow_style(self, arrow: Arrow) -> tuple[str, float, float]:
        """Colour, line width and head size.

        Thick arrows take part in autograd, thin ones do not. The backward graph is thin.
        """
        if arrow.kind == "retain":
            return "hook", 6.0, 18.0
        if arrow.kind == "result":
            tracked = self.ops[arrow.source].node is not None
            return ("brown-stroke", 3.0, 13.0) if tracked else ("yellow-stroke", 1.2, 9.0)
        if arrow.kind == "input":
            kind = tensor_kind(self.tensors[arrow.net[1]])
            return f"{kind}-stroke", *((1.2, 9.0) if kind == "yellow" else (3.0, 13.0))
        return "blue-stroke", 1.2, 9.0
