"""What a map is drawn with: words and colours of a theme, which a page may change."""

from __future__ import annotations

import math
from typing import Any

from ..layout.measure import ADVANCE, cut
from ..render.escape import element, text
from ..render.theme import Theme

TITLE, SMALL = 13.0, 11.0  # px
FILLS = ("green", "yellow", "brown", "blue")  # kinds of boxes: they have a fill and a stroke


def shortened(said: str, most: int) -> str:
    """Words in so many columns; what is cut ends in …"""
    whole = cut(said, most)  # a letter may have very many accents
    return said if whole == said else cut(said, max(most - 1, 1)) + "…"


class Ink:
    """Words and colours. Presentation attributes only, and beside them the class by which a page sets its own colour."""

    def __init__(self, theme: Theme) -> None:
        self.theme, self.colour = theme, theme.colours()

    def fill(self, role: str, kind: str = "f", more: str = "") -> dict[str, Any]:
        """The fill of a role; kind "fs": the colour of its stroke."""
        name = f"{role}-stroke" if kind == "fs" else f"{role}-fill" if role in FILLS else role
        return {"fill": self.colour[name], "class_": f"{more} {kind}-{role}".strip()}

    def stroke(self, role: str, more: str = "") -> dict[str, Any]:
        """The stroke of a role."""
        name = f"{role}-stroke" if role in FILLS else role
        return {"stroke": self.colour[name], "class_": f"{more} s-{role}".strip()}

    def box(self, x: float, y: float, w: float, h: float, round: float, role: str, **more: Any) -> str:
        """An outline."""
        stroke = role if role in FILLS else "brown"
        names = f"{more.pop('names', '')} {'f-' + role} s-{stroke}".strip()
        fill = self.fill(role)["fill"]
        return element(
            "rect", x=x, y=y, width=w, height=h, rx=round, fill=fill, stroke=self.colour[f"{stroke}-stroke"], stroke_width=1.5,
            class_=names, **more,
        )  # fmt: skip

    def text(
        self, x: float, y: float, said: str, *, size: float = SMALL, role: str = "text", end: bool = False,
        room: float = math.inf, bold: bool = False, more: str = "",
    ) -> str:  # fmt: skip
        """Words that end in … where there is no room for more (px)."""
        shown = shortened(said, int(room / ADVANCE / size) if room < math.inf else 10_000)
        if not shown:
            return ""
        look = {"text_anchor": "end"} if end else {}
        look |= {"font_weight": "bold"} if bold else {}
        return element("text", text(shown), x=x, y=y, font_size=size, **self.fill(role, more=more), **look)

    def cell(self, at: str, x: float, y: float, said: str, role: str, end: bool = False) -> str:
        """Words that a step changes: the middle of the line is at y, the page writes anew what stands there."""
        place = {"data_x": x, "data_y": y, "data_size": SMALL, "data_pitch": 14, "data_end": "1" if end else None}
        run = element("tspan", text(said), **self.fill(role))
        look = {"text_anchor": "end"} if end else {}
        written = element("text", run, x=x, y=y + SMALL * 0.35, font_size=SMALL, **look) if said else ""
        return element("g", written, class_="cell", data_at=at, **place)
