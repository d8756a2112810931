"""Where the cards of a map stand: one below the other, as the program ran; what is open is a frame around its parts.

A way that skips parts runs beside them, in a lane inside the frame. Widths are the same whatever is open, so opening a card
only moves what stands below it: the page does the same sum (static/map/layout.js).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import NamedTuple

from .cards import Card, walk
from .flow import ENTRANCE, EXIT, Flow, Flows
from .labels import Labels

WIDTH, NARROWEST, PAD = 620.0, 400.0, 16.0  # px: of the whole map at least, of a card at least, inside a frame
WIDEST = 1020.0  # px of the whole map, if narrow lanes get it there
TITLED = 560.0  # px of a card at the first depth, beside whatever lanes there are
LANE, NARROW, FEW = 61.0, 22.0, 4  # px of a lane; where there are more than a few lanes, without room for numbers
BESIDE = 160.0  # px of all narrow lanes of a frame at most
HEADER, ROW, BOTTOM = 32.0, 17.0, 8.0
CHIPS = 28.0  # px of the line that says what is in a closed card
GAP = 32.0  # between parts, with two arrows in it
PILL = 30.0


class Ends(NamedTuple):
    """From where to where a way leads, in px from the top of its frame."""

    top: float
    bottom: float


@dataclass(frozen=True)
class Frame:
    """What is drawn in an open card.

    Attributes:
        parts: cards from the top down.
        flows: between them.
        lanes: by way, which lane it takes, for those that skip parts.
        lane: px of a lane.
    """

    parts: list[Card]
    flows: list[Flow]
    lanes: dict[str, int]
    lane: float

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return max(self.lanes.values(), default=-1) + 1

    @property
    def beside(self) -> float:
        """px of all lanes."""
        return self.lane * self.count


def frame_of(card: Card, flows: Flows) -> Frame:
    """What is drawn in a card when it is open."""
    parts, found = flows.parts(card), flows.of(card)
    return Frame(parts, found, _lanes(found, len(parts)), LANE)


def is_straight(flow: Flow, parts: int) -> bool:
    """Does it lead to the next part, so that the gap between them has room for it?"""
    if flow.source == ENTRANCE:
        return flow.target == 0
    return flow.source == parts - 1 if flow.target == EXIT else flow.target == flow.source + 1


def _lanes(flows: list[Flow], parts: int, shared: bool = False) -> dict[str, int]:
    """A lane for each way that skips parts: ways that lie beside each other have different ones, but those of one input share
    theirs; or `shared`, all from one part.
    """
    skipping = sorted((f for f in flows if not is_straight(f, parts)), key=lambda f: f.source)
    groups: dict[tuple[int, str], list[Flow]] = defaultdict(list)
    for f in skipping:
        groups[f.source, "" if shared else f.id if f.places else f.name or f.id].append(f)
    found: dict[str, int] = {}
    ends: list[int] = []
    for (source, _), ways in groups.items():
        lane = next((k for k, e in enumerate(ends) if e <= source), len(ends))
        ends[lane : lane + 1] = [max(parts if f.target == EXIT else f.target for f in ways)]
        found |= dict.fromkeys((f.id for f in ways), lane)
    return found


def _narrow(frame: Frame) -> Frame:
    """The same without room for numbers."""
    frame = replace(frame, lanes=_lanes(frame.flows, len(frame.parts), shared=True))
    return replace(frame, lane=min(NARROW, BESIDE / max(frame.count, 1)))


class Places:
    """Sizes and places of all cards, in px, each from the corner of the card around it.

    Args:
        root: the whole program.
        flows: between the parts of each frame.
        labels: what cards say, which takes room.

    Attributes:
        frames: by card that can be opened, what is drawn in it.
        widths: by card, whatever is open.
        closed: heights by card.
    """

    def __init__(self, root: Card, flows: Flows, labels: Labels) -> None:
        self.root = root
        self.closed = {card.id: _closed_height(card, labels) for card in walk(root)}
        wide = {card.id: frame_of(card, flows) for card in walk(root) if card.items}
        for few in range(FEW, -1, -1):
            self.frames = {id: f if f.count <= few else _narrow(f) for id, f in wide.items()}
            self.widths = self._all_widths()
            if self.widths[root.id] <= WIDEST:
                break

    def _all_widths(self) -> dict[str, float]:
        cards = list(walk(self.root))
        least: dict[str, float] = {}
        for card in reversed(cards):  # from the inside out
            inner = [least[item.id] + self.around(card) for item in self.parts(card)]
            own = NARROWEST if card is not self.root else max(WIDTH, min(TITLED + self.around(card), WIDEST))
            least[card.id] = max([own, *inner])
        found = {self.root.id: least[self.root.id]}
        for card in cards:  # from the outside in
            found |= {item.id: found[card.id] - self.around(card) for item in self.parts(card)}
        return found

    def parts(self, card: Card) -> list[Card]:
        """What is drawn in it when it is open."""
        return self.frames[card.id].parts if card.id in self.frames else []

    def around(self, card: Card) -> float:
        """How much wider a frame is than its parts: the space around them, and the lanes."""
        beside = self.frames[card.id].beside if card.id in self.frames else 0.0
        return beside + (0.0 if card is self.root else 2 * PAD)

    def left(self, card: Card) -> float:
        """How far its parts stand from its left edge."""
        return 0.0 if card is self.root else PAD

    def header(self, card: Card) -> float:
        """How far down its parts begin."""
        return 0.0 if card is self.root else HEADER

    def heights(self, opened: frozenset[str]) -> dict[str, float]:
        """Of every card, if those are open."""
        found: dict[str, float] = {}
        for card in reversed(list(walk(self.root))):
            if card.id in opened:
                found[card.id] = self.header(card) + GAP + sum(found[p.id] + GAP for p in self.parts(card))
                if card is self.root:
                    found[card.id] -= GAP  # nothing leaves the program
            else:
                found[card.id] = self.closed[card.id]
        return found

    def tops(self, card: Card, heights: dict[str, float]) -> list[float]:
        """Of the parts of an open card, from its top."""
        found, y = list[float](), self.header(card) + GAP
        for part in self.parts(card):
            found.append(y)
            y += heights[part.id] + GAP
        return found

    def ends(self, card: Card, flow: Flow, heights: dict[str, float]) -> Ends:
        """From where to where a way leads."""
        parts, tops = self.parts(card), self.tops(card, heights)
        top = self.header(card) if flow.source == ENTRANCE else tops[flow.source] + heights[parts[flow.source].id]
        return Ends(top, heights[card.id] if flow.target == EXIT else tops[flow.target])


def _closed_height(card: Card, labels: Labels) -> float:
    if card.kind in ("ops", "root"):
        return PILL
    rows = len(labels.lines(card))
    return HEADER + (CHIPS if has_chips(card, labels) else 0.0) + (rows * ROW + BOTTOM if rows else 0.0)


def has_chips(card: Card, labels: Labels) -> bool:
    """Has it a line of what is in it?"""
    return labels.rows is None and card.depth > 0 and bool(labels.inside.of(card))
