"""Where the cards of a map stand: one below the other, as the program ran; what is open is a frame around its parts.

A way that skips parts runs beside them, in a lane inside the frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .cards import Card
from .flow import ENTRANCE, EXIT, Flow, Flows

WIDTH, PAD, LANE = 620.0, 16.0, 76.0  # px: of the whole map at least, inside a frame, of a way that skips parts
HEADER, ROW, BOTTOM = 34.0, 17.0, 8.0
NARROWEST = 400.0  # of a card
GAP = 40.0  # between parts, with two arrows in it
PILL = 30.0
MOST_ROWS = 6  # parameters of a closed card that are written out


@dataclass
class Spot:
    """A card and its place.

    Attributes:
        x, y, w, h: px.
        is_open: its parts are drawn in it.
        rows: parameters that are written out.
        spots: of its parts; flows: between them.
    """

    card: Card
    x: float
    y: float
    w: float
    h: float = 0.0
    is_open: bool = False
    rows: int = 0
    spots: list[Spot] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    lanes: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def bottom(self) -> float:
        """px."""
        return self.y + self.h


def is_straight(flow: Flow, parts: int) -> bool:
    """Does it lead to the next part, so that the gap between them has room for it?"""
    first, last = (0, parts - 1)
    if flow.source == ENTRANCE:
        return flow.target == first
    return flow.source == last if flow.target == EXIT else flow.target == flow.source + 1


def lanes_of(flows: list[Flow], parts: int) -> dict[tuple[int, int], int]:
    """A lane for each way that skips parts: ways that lie beside each other have different ones."""
    found: dict[tuple[int, int], int] = {}
    ends: list[int] = []
    for f in sorted((f for f in flows if not is_straight(f, parts)), key=lambda f: f.source):
        end = parts if f.target == EXIT else f.target
        lane = next((k for k, e in enumerate(ends) if e <= f.source), len(ends))
        ends[lane : lane + 1] = [end]
        found[f.source, f.target] = lane
    return found


def placed(root: Card, flows: Flows, opened: frozenset[int], rows: dict[int, int]) -> Spot:
    """The whole map.

    Args:
        root: the whole program.
        flows: between the parts of each frame.
        opened: numbers of the cards that are open (see `number`).
        rows: how many parameters each card has, by number.
    """
    whole = Spot(root, 0.0, 0.0, WIDTH, is_open=True)
    order: list[Spot] = []
    todo = [whole]
    while todo:  # what is drawn in what
        spot = todo.pop()
        order.append(spot)
        if spot.is_open:
            _fill(spot, flows, opened, rows)
            todo += spot.spots
    for spot in reversed(order):  # sizes, from the inside out
        beside = _beside(spot, whole)
        spot.w = max([NARROWEST if spot is not whole else WIDTH, *(s.w + beside for s in spot.spots)])
        spot.h = _height(spot, whole)
    for spot in order:  # places, from the outside in
        y = spot.y + (0.0 if spot is whole else HEADER) + GAP
        for inner in spot.spots:
            inner.x, inner.y = spot.x + (0.0 if spot is whole else PAD), y
            inner.w = spot.w - _beside(spot, whole)
            y += inner.h + GAP
    return whole


def _fill(spot: Spot, flows: Flows, opened: frozenset[int], rows: dict[int, int]) -> None:
    """Put its parts into an open card, and what flows between them."""
    parts = flows.parts(spot.card)
    spot.flows = flows.of(spot.card)
    spot.lanes = lanes_of(spot.flows, len(parts))
    for part in parts:
        shown = min(rows.get(key(part), 0), MOST_ROWS + 1)
        spot.spots.append(Spot(part, 0.0, 0.0, 0.0, is_open=key(part) in opened, rows=shown))


def _beside(spot: Spot, whole: Spot) -> float:
    """How much wider a frame is than its parts: the space around them, and the lanes."""
    return (0.0 if spot is whole else 2 * PAD) + LANE * (max(spot.lanes.values(), default=-1) + 1)


def _height(spot: Spot, whole: Spot) -> float:
    if spot.is_open:
        header = 0.0 if spot is whole else HEADER
        return header + GAP + sum(s.h + GAP for s in spot.spots)
    if spot.card.kind == "ops":
        return PILL
    return HEADER + (spot.rows * ROW + BOTTOM if spot.rows else 0.0)


def key(card: Card) -> int:
    """What tells a card from others: its first op and its depth as one number."""
    return card.first * 64 + card.depth
