"""The map as SVG: presentation attributes only, so that every program draws the same."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..layout.measure import ADVANCE, columns, cut
from ..render.escape import element, text
from ..render.svg import FALLBACK
from ..render.theme import Theme
from .flow import ENTRANCE, EXIT, Flow
from .numbers import norm_text
from .place import GAP, HEADER, LANE, ROW, Spot, is_straight
from .plan import Line, Plan

TITLE, SMALL = 13.0, 11.0  # px
MARGIN, TOP, LEGEND = 24.0, 64.0, 130.0
DOWN, UP = 150.0, 400.0  # px from a part's left edge: where the forward arrow and the gradient run
THINNEST, THICKEST = 1.5, 8.0  # px of a gradient's arrow
DECADES = 4  # from the thickest to the thinnest
STACKED = 4.0  # px: the outlines behind a stack


def painted(plan: Plan, theme: Theme) -> str:
    """The picture of a planned map."""
    whole = plan.spot
    width, height = whole.w + 2 * MARGIN + LEGEND, whole.h + TOP + MARGIN
    painter = _Painter(plan, theme)
    content = "\n".join(
        [
            element("title", text(plan.summary)),
            element("rect", width=width, height=height, fill=theme.canvas, class_="f-canvas"),
            *painter.heading(),
            element("g", "\n".join(painter.frame(whole)), transform=f"translate({MARGIN:g} {TOP:g})"),
            *painter.legend(MARGIN + whole.w + 16, TOP + 8),
        ]
    )
    return element(
        "svg", content, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", width=width, height=height,
        font_family=FALLBACK, role="img",
    )  # fmt: skip


class _Painter:
    def __init__(self, plan: Plan, theme: Theme) -> None:
        self.plan, self.theme = plan, theme

    def text(
        self, x: float, y: float, words: str, *, size: float = SMALL, fill: str = "", room: float = math.inf, **more: object
    ) -> str:
        """Words that end in … where there is no room for more (px)."""
        most = int(room / ADVANCE / size) if room < math.inf else 10_000
        shown = words if columns(words) <= most else cut(words, max(most - 1, 1)) + "…"
        return element("text", text(shown), x=x, y=y, font_size=size, fill=fill or self.theme.text, **more)

    def heading(self) -> Iterator[str]:
        """What the map is of."""
        yield self.text(MARGIN, 28, self.plan.title, size=17, font_weight="bold")
        yield self.text(MARGIN, 48, self.plan.summary, fill=self.theme.none)

    def legend(self, x: float, y: float) -> Iterator[str]:
        """How thick which norm is."""
        if self.plan.largest is None:
            return
        yield self.text(x, y, "norm of grad", fill=self.theme.none)
        for k in range(DECADES):
            number = 10.0 ** (math.floor(math.log10(self.plan.largest)) - k)
            at = y + 18 + 18 * k
            yield element("path", d=f"M{x:g} {at:g}h36", stroke=self.theme.link, stroke_width=self.thickness(number))
            yield self.text(x + 44, at + 4, norm_text(number), fill=self.theme.link)

    def thickness(self, number: float) -> float:
        """px of an arrow: log10 of the norm, on one scale for the map."""
        if self.plan.largest is None or number <= 0 or not math.isfinite(number):
            return THINNEST
        below = math.log10(self.plan.largest / number)
        return max(THINNEST, THICKEST - (THICKEST - THINNEST) * below / DECADES)

    # -- cards --------------------------------------------------------------------------------------------------------

    def frame(self, spot: Spot) -> Iterator[str]:
        """What is in an open card."""
        for inner in spot.spots:
            yield element("g", "\n".join(self.card(inner)), data_path=inner.card.name, class_="card")
        for flow in spot.flows:
            if is_straight(flow, len(spot.spots)):
                yield from self.straight(spot, flow)
            else:
                yield from self.beside(spot, flow)

    def card(self, spot: Spot) -> Iterator[str]:
        """A closed card, a pill, or a frame with its parts."""
        theme, card = self.theme, spot.card
        if card.kind == "ops":
            yield self.box(spot, PILL_ROUND, theme.canvas)
            yield self.text(spot.x + 16, spot.y + 19, card.title, size=12, room=spot.w * 0.5)
            said = self.plan.place_of(card)
            yield self.text(spot.x + spot.w - 16, spot.y + 19, said, fill=theme.none, text_anchor="end", room=spot.w * 0.45)
            return
        if card.kind == "stack" and not spot.is_open:
            for k in (2, 1):
                yield self.box(spot, 6, theme.canvas, STACKED * k)
        yield self.box(spot, 6, theme.canvas if spot.is_open else theme.row)
        yield from self.header(spot)
        for k, line in enumerate(self.plan.lines(spot)):
            yield from self.row(spot, spot.y + HEADER + ROW * k + 9, line)
        if spot.is_open:
            yield from self.frame(spot)

    def box(self, spot: Spot, round: float, fill: str, off: float = 0.0) -> str:
        """The outline of a card."""
        return element(
            "rect", x=spot.x + off, y=spot.y + off, width=spot.w, height=spot.h, rx=round, fill=fill,
            stroke=self.theme.brown_stroke, stroke_width=1.5,
        )  # fmt: skip

    def header(self, spot: Spot) -> Iterator[str]:
        """Name, class, and what is known of the whole."""
        y, name = spot.y + 22, spot.card.title
        yield self.text(spot.x + 12, y, name, size=TITLE, font_weight="bold", room=spot.w * 0.55)
        used = min(columns(name) * ADVANCE * TITLE, spot.w * 0.55)
        kind = self.plan.kind_of(spot.card)
        about = self.plan.about(spot.card)
        room = spot.w - used - 40 - columns(about) * ADVANCE * SMALL
        if kind and room > 60:
            yield self.text(spot.x + 20 + used, y, f"· {kind}", fill=self.theme.none, room=room)
        yield self.text(spot.x + spot.w - 12, y, about, fill=self.theme.none, text_anchor="end")

    def row(self, spot: Spot, y: float, line: Line) -> Iterator[str]:
        """A parameter."""
        theme, right = self.theme, spot.x + spot.w - 12
        if line.name:
            fill, stroke = (theme.green_fill, theme.green_stroke) if line.trains else (theme.yellow_fill, theme.yellow_stroke)
            yield element("rect", x=spot.x + 12, y=y - 8, width=9, height=9, fill=fill, stroke=stroke)
        yield self.text(spot.x + 28, y, line.name + line.shape, room=spot.w - 250)
        if line.data is not None:
            yield self.text(right - 120, y, f"norm {norm_text(line.data)}", fill=theme.none, text_anchor="end")
        yield self.text(right, y, line.said, fill=theme.grad if line.is_odd else theme.link, text_anchor="end")

    # -- arrows -------------------------------------------------------------------------------------------------------

    def straight(self, spot: Spot, flow: Flow) -> Iterator[str]:
        """Down to the next part, and the gradient up."""
        top, bottom = self.ends(spot, flow)
        yield from self.down(spot.spots[0].x + DOWN, top, bottom, flow)
        if flow.gradient is not None:
            yield from self.up(
                spot.spots[0].x + min(UP, spot.spots[0].w - 110), top, bottom, flow, self.plan.remark(spot, flow)
            )

    def ends(self, spot: Spot, flow: Flow) -> tuple[float, float]:
        """From where to where a way leads, px."""
        top = spot.spots[flow.source].bottom if flow.source != ENTRANCE else spot.spots[flow.target].y - GAP
        bottom = spot.spots[flow.target].y if flow.target != EXIT else spot.bottom
        return top, bottom

    def down(self, x: float, top: float, bottom: float, flow: Flow) -> Iterator[str]:
        """The forward arrow, with the shape that it carries."""
        yield from self.arrow(x, top, x, bottom, self.theme.brown_stroke, 1.6)
        words = "" if flow.shape is None else str(flow.shape)
        words += f" · {flow.rearranged} rearranging" if flow.rearranged else ""
        yield self.text(x - 8, (top + bottom) / 2 + 4, words, fill=self.theme.none, text_anchor="end", room=DOWN)

    def up(self, x: float, top: float, bottom: float, flow: Flow, remark: str) -> Iterator[str]:
        """The gradient's arrow, with its norm."""
        assert flow.gradient is not None
        odd = not math.isfinite(flow.gradient) or flow.gradient == 0 or bool(remark)
        colour = self.theme.grad if odd else self.theme.link
        yield from self.arrow(x, bottom, x, top, colour, self.thickness(flow.gradient))
        said = "all zero" if flow.gradient == 0 else norm_text(flow.gradient)
        yield self.text(x + 14, (top + bottom) / 2 + 4, f"{said}  {remark}".rstrip(), fill=colour)

    def arrow(self, x: float, y: float, to_x: float, to_y: float, colour: str, width: float) -> Iterator[str]:
        """A vertical arrow."""
        size = max(7.0, 1.6 * width)
        sign = 1 if to_y > y else -1
        yield element("path", d=f"M{x:g} {y:g}V{to_y - sign * size:g}", stroke=colour, stroke_width=width, fill="none")
        yield element("path", d=f"M{to_x:g} {to_y:g}l{-size / 1.6:g} {-sign * size:g}h{size / 0.8:g}z", fill=colour)

    def beside(self, spot: Spot, flow: Flow) -> Iterator[str]:
        """A way that skips parts, in its lane."""
        theme = self.theme
        inner = spot.spots[0]
        x = inner.x + inner.w + 18 + LANE * spot.lanes[flow.source, flow.target]
        right = inner.x + inner.w
        top = spot.spots[flow.source].bottom + 8 if flow.source != ENTRANCE else inner.y - GAP + 8
        bottom = spot.spots[flow.target].y + 12 if flow.target != EXIT else spot.bottom
        start = inner.x + DOWN
        if flow.target == EXIT:
            d = f"M{start:g} {top:g}H{x:g}V{bottom:g}"
        else:
            d = f"M{start:g} {top:g}H{x:g}V{bottom:g}H{right + 6:g}"
        yield element("path", d=d, stroke=theme.brown_stroke, stroke_width=1.6, fill="none")
        if flow.target != EXIT:
            yield element("path", d=f"M{right:g} {bottom:g}l7 -4v8z", fill=theme.brown_stroke)
        if flow.gradient is not None:
            middle = (top + bottom) / 2
            yield self.text(x + 5, middle, norm_text(flow.gradient), fill=theme.link, room=LANE - 8)


PILL_ROUND = 15.0
