"""The arrows of a map: the forward way down, the gradient up, as thick as its norm says; and bars of the gradient by turn."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ... import words
from ..layout.measure import ADVANCE, columns, text_width
from ..render.escape import element
from .cards import Card
from .flow import ENTRANCE, EXIT, Flow, cut_said
from .ink import SMALL, Ink
from .labels import is_usual
from .numbers import Place, norm_text, together
from .odd import Odd, arrived
from .place import GAP, LANE, Ends, Frame, Places
from .plan import Plan

DOWN, UP, BESIDE = 150.0, 400.0, 220.0  # px from a part's left edge: forward arrow, gradient; the gradient from the right edge
BRANCH = 8.0  # px under a part, where a way leaves for its lane
CLEAR, NEARER = 11.0, 6.0  # px: from a lane's number to a way that crosses the lane; by which another place is tried
INTO, ABOVE = 180.0, 12.0  # px: from a column's left edge and above it, where a way comes from its lane
THINNEST, THICKEST = 1.5, 9.0  # px of a gradient's arrow
LOWEST, HIGHEST = -6.0, 2.0  # log10 of the norms that are drawn so
WAY = 3.5  # px from a lane to the gradient that comes back on it, which is half as thick (so in map/picture.js)
ALONG = 150.0  # px of a name along a lane
SUM = "Σ"
LEGEND = (100.0, 1.0, 1e-2, 1e-4, 1e-6)
STRIP, BAR = 180.0, 9.0  # px: for the gradients of turns at least, of one of them at most
BELOW, TALL = 5.0, 2.0  # px of bars below the line of words; how much taller they are than an arrow is thick (map/picture.js)
WIDEST = "0.000123"  # norm as text


def thickness(norm: float) -> float:
    """px of an arrow: log10 of the norm, on one scale for all maps (so in map/picture.js)."""
    if not is_usual(norm):
        return THINNEST
    share = (math.log10(norm) - LOWEST) / (HIGHEST - LOWEST)
    return THINNEST + (THICKEST - THINNEST) * min(1.0, max(0.0, share))


def up_path(x: float, width: float, gap: float = GAP) -> str:
    """An arrow from the bottom of a gap to its top, as an outline (so in map/picture.js)."""
    size, half = max(7.0, 1.6 * width), width / 2
    side = size / 1.6
    return f"M{x - half:g} {gap:g}V{size:g}H{x - side:g}L{x:g} 0L{x + side:g} {size:g}H{x + half:g}V{gap:g}Z"


def branch(frame: Frame, flow: Flow) -> float:
    """px under a part, where a way leaves for its lane; ways of columns side by side leave one below the other."""
    spot = frame.spots.get(flow.source)  # None: the entrance
    return BRANCH if spot is None else BRANCH * (spot.column + 1) / len(frame.rows[spot.row])


def lane_path(x: float, ends: Ends, lane: float, right: float | None, into: float | None = None, under: float = BRANCH) -> str:
    """A way that skips parts: to its lane, down, and back to its part's right edge, into a column, or on (map/picture.js)."""
    end = f"V{ends.bottom:g}" if right is None else f"V{ends.bottom + 12:g}H{right:g}"
    end = end if into is None else f"V{ends.bottom - ABOVE:g}H{into:g}V{ends.bottom - 8:g}"
    return f"M{x:g} {ends.begin:g}V{ends.top + under:g}H{lane:g}{end}"


def clear(ends: Ends, crossing: list[float]) -> float:
    """Where the number of a lane stands: in its middle, or as near to it as no other way crosses (so in map/layout.js)."""
    middle, tries = (ends.top + ends.bottom) / 2, int((ends.bottom - ends.top) / 2 / NEARER)
    for k in range(2 * tries):
        y = middle + NEARER * (k // 2 + k % 2) * (1 if k % 2 else -1)
        at = bisect_left(crossing, y - CLEAR)
        if at == len(crossing) or crossing[at] > y + CLEAR:
            return y
    return middle


def into(places: Places, card: Card, flow: Flow) -> float | None:
    """Where a way comes from its lane into a column that stands beside others; None: it comes to the right edge of its part."""
    frame = places.frames[card.id]
    if flow.target == EXIT or frame.spots[flow.target].is_alone or frame.is_straight(flow):
        return None
    return places.lefts(card)[flow.target] + INTO


def said_of(odd: Odd, card: Card, flow: Flow, known: Mapping[Place, float]) -> tuple[str, str]:
    """What stands beside a gradient's arrow, and in which colour: "1.35"."""
    norm = flow.gradient(known)
    if norm is None:
        return "", "link"
    remark = odd.remark(card, flow, known)
    said = (f"{SUM} " if flow.is_sum else "") + (words.MAP_ZERO if norm == 0 else norm_text(norm))
    is_wide = odd.plan.places.frames[card.id].is_straight(flow)
    shown = remark if is_wide or remark[:1] not in "÷×" else remark[:1]  # a lane has no room for more
    said = f"{said}  {shown if is_wide or len(shown) == 1 else ''}".rstrip()
    return said, "link" if math.isfinite(norm) and not remark else "grad"


def _line(flow: Flow) -> dict[str, Any]:
    return {"fill": "none", "stroke_width": 1.6, **({} if flow.cut is None else {"stroke_dasharray": "4 4"})}


def lane_x(places: Places, card: Card, flow: Flow) -> float:
    """Where a lane runs, in px from the left edge of its frame."""
    frame = places.frames[card.id]
    return places.right(card) + (18.0 if frame.lane == LANE else 10.0) + frame.lane * frame.lanes[flow.id]


class Arrows:
    """Draws the flows of a map. `said`: what stands beside a gradient's arrow, and in which colour; None: its norm."""

    def __init__(
        self, plan: Plan, ink: Ink, known: Mapping[Place, float], said: Callable[[Card, Flow], tuple[str, str]] | None = None
    ) -> None:
        self.plan, self.places, self.ink, self.known = plan, plan.places, ink, known
        self.odd = Odd(plan)
        self.said = said or (lambda card, flow: said_of(self.odd, card, flow, known))

    def all_of(self, card: Card, heights: dict[str, float] | None) -> Iterator[str]:
        """The flows of an open card; without heights the page puts them in place."""
        frame = self.places.frames[card.id]
        ends = {f.id: Ends(0.0, 0.0, GAP) if heights is None else self.places.ends(card, f, heights) for f in frame.flows}
        crossing = self.crossing(card, ends) if heights is not None and frame.lane == LANE else []
        for flow in sorted(frame.flows, key=frame.is_straight):  # lanes lie under gradients
            is_straight, way = frame.is_straight(flow), ends[flow.id]
            yield self.straight(card, flow, way) if is_straight else self.beside(card, flow, way, crossing)

    def crossing(self, card: Card, ends: Mapping[str, Ends]) -> list[list[float]]:
        """By lane, at what heights ways of the lanes right of it cross it (so in map/layout.js)."""
        frame = self.places.frames[card.id]
        found: list[list[float]] = [[] for _ in range(frame.count)]
        for f in frame.flows:
            for lane in range(frame.lanes.get(f.id, 0)):
                back = ABOVE if into(self.places, card, f) is not None else -ABOVE
                found[lane] += [ends[f.id].top + branch(frame, f), *([] if f.target == EXIT else [ends[f.id].bottom - back])]
        return [sorted(heights) for heights in found]

    def straight(self, card: Card, flow: Flow, ends: Ends) -> str:
        """Down to the next part, and the gradient up."""
        ink, (left, width), gap = self.ink, self.places.span(card, flow), ends.bottom - ends.begin
        down, x = left + DOWN, left + max(min(UP, width - BESIDE), DOWN + 40)
        at = f"translate(0 {gap:g})"
        drawn = [
            element("path", d=f"M{down:g} 0V{gap - 8:g}", **_line(flow), **ink.stroke("brown", more="down")),
            element("path", d=f"M{down:g} 0l-5 -9h10z", transform=at, **ink.fill("brown", "fs", more="tip")),
            *self.carried(card, flow, down, x),
            *self.gradient(card, flow, x, gap),
        ]
        return element("g", "".join(drawn), class_="flow", data_at=flow.id, transform=f"translate(0 {ends.begin:g})")

    def carried(self, card: Card, flow: Flow, down: float, up: float) -> Iterator[str]:
        """What the forward arrow carries, "x (2, 6)", and what is folded into it; left of it and right, where there is room."""
        several = f" × {len(flow.tensors)}" if flow.shape is not None and len(flow.tensors) > 1 else ""
        said = f"{flow.name} {'' if flow.shape is None else flow.shape}{several}".strip()
        folded = words.MAP_REARRANGING.format(count=flow.rearranged) if flow.rearranged else ""
        if text_width(said, SMALL) > DOWN - 10:
            said, folded = "", " · ".join(filter(None, (said, folded)))
        yield self.ink.text(down - 10, GAP / 2 + 4, said, role="none", end=True)
        if flow.cut is not None:
            role = "grad" if self.odd.is_lost(card, flow, self.known) else "none"
            yield self.ink.text(down + 10, GAP / 2 + 4, cut_said(self.plan.document, flow.cut), role=role)
            return
        if text_width(folded, SMALL) <= up - down - 20:
            yield self.ink.text(down + 10, GAP / 2 + 4, folded, role="none")

    def gradient(self, card: Card, flow: Flow, x: float, gap: float) -> Iterator[str]:
        """The gradient's arrow with its norm, or the places of both."""
        if not flow.places:
            return
        norm = flow.gradient(self.known)
        said, role = self.said(card, flow)
        shape = {"d": "", "visibility": "hidden"} if norm is None else {"d": up_path(x, thickness(norm), gap)}
        yield element("path", **shape, **self.ink.fill(role, more="up"), data_x=x)
        yield self.ink.cell(f"g:{flow.id}", x + 16, GAP / 2, said, role)

    def beside(self, card: Card, flow: Flow, ends: Ends, crossing: list[list[float]]) -> str:
        """A way that skips parts, in its lane."""
        ink, places, frame = self.ink, self.places, self.places.frames[card.id]
        lane, right, column = lane_x(places, card, flow), places.right(card), into(places, card, flow)
        end = None if flow.target == EXIT else right + 6
        said, role = self.said(card, flow)
        middle, under = clear(ends, crossing[frame.lanes[flow.id]] if crossing else []), branch(frame, flow)
        d = lane_path(self.start(card, flow), ends, lane, end, column, under)
        drawn = [element("path", d=d, **_line(flow), **ink.stroke("brown", more="bypass"))]
        if flow.places:
            norm = flow.gradient(self.known)
            way = f"M{lane + WAY:g} {ends.top + under:g}V{ends.bottom:g}"
            shape = {"visibility": "hidden"} if norm is None else {"stroke_width": thickness(norm) / 2}
            drawn.append(element("path", d=way, fill="none", **shape, **ink.stroke(role, more="upway")))
        if end is not None:
            at = f"translate({right:g} {ends.bottom + 12:g})"
            at = at if column is None else f"translate({column:g} {ends.bottom:g}) rotate(-90)"
            drawn.append(element("path", d="M0 0l8 -5v10z", transform=at, **ink.fill("brown", "fs", more="tip")))
        if frame.lane == LANE:
            number = ink.cell(f"g:{flow.id}", lane + 7, 0, said, role) if flow.places else ""
            cut = "" if flow.cut is None else cut_said(self.plan.document, flow.cut).partition(":")[0].rpartition(".")[2]
            constant = flow.shape if flow.source == ENTRANCE and not flow.places else None  # else nothing says what it carries
            said, room = cut or flow.name or str(constant or ""), LANE - 8
            name = ink.text(lane + 6, -10 if number else 4, said, role="none", room=room)
            if text_width(said, SMALL) > room:  # along the lane
                name = ink.text(0, 0, said, role="none", room=ALONG)
                name = element("g", name, transform=f"translate({lane + 10:g} 16) rotate(90)")
            drawn.append(element("g", name + number, class_="number", transform=f"translate(0 {middle:g})"))
        return element("g", "".join(drawn), class_="flow lane", data_at=flow.id)

    def start(self, card: Card, flow: Flow) -> float:
        """Where a way that skips parts begins: below its part; at the entrance where its tensor enters, or in its own lane."""
        places, frame = self.places, self.places.frames[card.id]
        if flow.source != ENTRANCE:
            return places.lefts(card)[flow.source] + DOWN
        same = frame.entering.get(flow.origins)
        return lane_x(places, card, flow) if same is None else places.span(card, same)[0] + DOWN


def legend_of_arrows(ink: Ink, x: float, y: float, has_sums: bool) -> Iterator[str]:
    """How thick which norm is, and which are of several ways."""
    yield ink.text(x, y, words.MAP_LEGEND, role="none")
    for k, number in enumerate(LEGEND):
        at = y + 18 + 18 * k
        yield element("path", d=f"M{x:g} {at:g}h36", stroke_width=thickness(number), **ink.stroke("link"))
        yield ink.text(x + 44, at + SMALL * 0.35, norm_text(number), role="link")
    if has_sums:
        yield ink.text(x, y + 18 * (len(LEGEND) + 2), f"{SUM}: {words.MAP_SUM}", role="none")


def ends(card: Card) -> tuple[int, int]:
    """The places of what gives the result of the first turn, and of the last."""
    return card.period - 1, len(card.items) - 1


def turns_said(card: Card, flows: Sequence[Flow], known: Mapping[Place, float]) -> str:
    """`grad by turn: 0.01 … 0.2`; nothing before one of them is known."""
    ways = [[place for f in flows if f.source == end for place in f.places] for end in ends(card)]
    first, last = (norm_text(together(known, places)) for places in ways)
    return words.MAP_TURNS.format(first=first or "?", last=last or "?") if first or last else ""


def bars(
    ink: Ink, card: Card, flows: Sequence[Flow], known: Mapping[Place, float], x: float, right: float, y: float, page: bool
) -> Iterator[str]:  # fmt: skip
    """Words and bars between x and right, on a line at y; in a page that steps, room for those to come."""
    norms = arrived(flows, card.items, known)[card.period - 1 :: card.period]
    said = turns_said(card, flows, known)
    if not (said or page) or x > right - STRIP:
        return
    yield ink.cell(f"turns:{card.id}", x, y - SMALL * 0.35, said, "none") if page else ink.text(x, y, said, role="none")
    x += (columns(said or words.MAP_TURNS.format(first=WIDEST, last=WIDEST)) + 1) * ADVANCE * SMALL
    wide = min(BAR, (right - x) / len(norms))
    for k, norm in enumerate(norms if wide >= 1 else ()):
        role, tall = ("link" if norm is None or (norm and math.isfinite(norm)) else "grad"), TALL * thickness(norm or 0.0)
        ways = " ".join([f.id for f in flows if f.source == card.period * (k + 1) - 1 and f.places])
        tall, more = (0.0 if norm is None else tall), ({"data_turn": ways} if page else {})
        if norm is not None or page:
            left, top, broad = x + k * wide, y + BELOW - tall, max(wide - 1, 0.8)
            yield element("rect", x=left, y=top, width=broad, height=tall, **more, **ink.fill(role))
