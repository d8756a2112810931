"""Where the cards of a map stand: one below the other, as the program ran, or ways that do not meet side by side; what is open
is a frame around its parts.

A way that skips parts runs beside them, in a lane inside the frame. Widths are the same whatever is open, so opening a card
only moves what stands below it: the page does the same sum (static/map/layout.js).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from .cards import Card, is_in_time, walk
from .columns import Row, in_one_column, rows_of
from .flow import ENTRANCE, EXIT, Flow, Flows
from .labels import Labels

WIDTH, NARROWEST, PAD = 620.0, 300.0, 16.0  # px: of the whole map at least, of a card at least, inside a frame
WIDEST = 1020.0  # px of the whole map, if narrow lanes get it there
TITLED = 560.0  # px of a card at the first depth, beside whatever lanes there are
LANE, NARROW, FEW = 61.0, 22.0, 4  # px of a lane; where there are more than a few lanes, without room for numbers
BESIDE, INPUTS = 160.0, 24  # px of all narrow lanes of a frame at most; inputs that have a lane each
HEADER, ROW, BOTTOM = 32.0, 17.0, 8.0
CHIPS = 28.0  # px of the line that says what is in a closed card
GAP = 32.0  # between parts, with two arrows in it
BETWEEN = 24.0  # between columns
COLUMN = 470.0  # px of a column at the first depth, if there is room
PILL = 30.0


class Ends(NamedTuple):
    """From where to where a way leads, in px from the top of its frame."""

    begin: float  # where its part ends
    top: float  # where the row of that part ends, if it leaves the row
    bottom: float


class Spot(NamedTuple):
    """Where a part stands in its frame."""

    row: int
    column: int
    is_first: bool
    is_last: bool
    is_alone: bool


@dataclass(frozen=True)
class Frame:
    """What is drawn in an open card."""

    parts: list[Card]  # from the top down
    flows: list[Flow]  # between them
    lanes: dict[str, int]  # by way, which lane it takes, for those that skip parts
    lane: float  # px of a lane
    rows: list[Row]  # how the parts stand

    @cached_property
    def spots(self) -> dict[int, Spot]:
        """By part."""
        return {
            k: Spot(r, c, k == column[0], k == column[-1], len(row) == 1)
            for r, row in enumerate(self.rows)
            for c, column in enumerate(row)
            for k in column
        }

    @cached_property
    def entering(self) -> dict[tuple[str, ...], Flow]:
        """Ways from the entrance to the first row, by the tensors that entered."""
        return {f.origins: f for f in self.flows if f.source == ENTRANCE and self.is_straight(f)}

    def spot(self, place: int) -> Spot:
        """Of a part, or of the entrance or exit, which are rows above and below."""
        if place in (ENTRANCE, EXIT):
            return Spot(-1 if place == ENTRANCE else len(self.rows), 0, True, True, True)
        return self.spots[place]

    def is_straight(self, flow: Flow) -> bool:
        """Does it lead to the next part, so that the gap between them has room for it?"""
        source, target = self.spot(flow.source), self.spot(flow.target)
        if source[:2] == target[:2]:
            return (flow.source, flow.target) in pairwise(self.rows[source.row][source.column])
        is_next = target.row == source.row + 1 and source.is_last and target.is_first
        return is_next and (source.is_alone or target.is_alone)

    def in_column(self, flow: Flow) -> int | None:
        """The part whose column a way keeps to: its source or else its target, if one stands beside others."""
        return next((k for k in (flow.source, flow.target) if k >= 0 and not self.spots[k].is_alone), None)

    @property
    def count(self) -> int:
        """How many lanes there are."""
        return max(self.lanes.values(), default=-1) + 1

    @property
    def beside(self) -> float:
        """px of all lanes."""
        return self.lane * self.count


def frame_of(card: Card, flows: Flows, is_wide: bool = True) -> Frame:
    """What is drawn in a card when it is open; `is_wide`: also side by side."""
    parts, found = flows.parts(card), flows.of(card)
    frame = Frame(parts, found, {}, LANE, rows_of(parts, found) if is_wide else in_one_column(parts))
    return replace(frame, lanes=_lanes(frame))


def _lanes(frame: Frame, shared: bool = False) -> dict[str, int]:
    """A lane for each way that skips parts; those of one input share theirs; or `shared`, also all from one part."""
    skipping, parts = sorted((f for f in frame.flows if not frame.is_straight(f)), key=lambda f: f.source), len(frame.parts)
    groups: dict[tuple[int, tuple[str, ...]], list[Flow]] = defaultdict(list)
    told = len({f.origins for f in skipping if f.source == ENTRANCE}) <= INPUTS
    for f in skipping:
        inputs = f.origins if told and f.source == ENTRANCE and (shared or not f.places) else ()
        groups[f.source, inputs if inputs or shared else (f.id,)].append(f)
    found: dict[str, int] = {}
    ends: list[int] = []
    for (source, _), ways in groups.items():
        lane = next((k for k, e in enumerate(ends) if e <= source), len(ends))
        ends[lane : lane + 1] = [max(parts if f.target == EXIT else f.target for f in ways)]
        found |= dict.fromkeys((f.id for f in ways), lane)
    return found


def _narrow(frame: Frame) -> Frame:
    """The same without room for numbers."""
    frame = replace(frame, lanes=_lanes(frame, shared=True))
    return replace(frame, lane=min(NARROW, BESIDE / max(frame.count, 1)))


class Places:
    """Sizes and places of all cards, in px, each from the corner of the card around it."""

    def __init__(self, root: Card, flows: Flows, labels: Labels) -> None:
        self.root, self._lefts = root, dict[str, list[float]]()
        self.closed = {card.id: _closed_height(card, labels) for card in walk(root)}  # heights by card
        self.frames: dict[str, Frame] = {}  # by card that can be opened, what is drawn in it
        self.widths: dict[str, float] = {}  # by card, whatever is open
        opening = [card for card in walk(root) if card.items]
        wide = {card.id: frame_of(card, flows) for card in opening}
        deep = max([card.depth for card in opening if any(len(row) > 1 for row in wide[card.id].rows)], default=-1)
        for depth in range(deep, -2, -1):  # what is too wide has no columns in its depth
            wide |= {card.id: frame_of(card, flows, False) for card in opening if card.depth == depth + 1 <= deep}
            for few in range(FEW, -1, -1):
                self.frames = {id: f if f.count <= few else _narrow(f) for id, f in wide.items()}
                self.widths = self._all_widths()
                if self.widths[root.id] <= WIDEST:
                    return

    def _all_widths(self) -> dict[str, float]:
        cards, least = list(walk(self.root)), dict[str, float]()
        most = max((len(row) for row in self.rows(self.root)), default=1)
        titled = self.around(self.root) + (TITLED if most == 1 else most * COLUMN)  # px, for the parts at the first depth
        for card in reversed(cards):  # from the inside out
            inner = [sum(self._columns(card, row, least)) + BETWEEN * (len(row) - 1) for row in self.rows(card)]
            own = NARROWEST if card is not self.root else max(WIDTH, min(titled, WIDEST))
            least[card.id] = max([own, *(w + self.around(card) for w in inner)])
        found = {self.root.id: least[self.root.id]}
        for card in cards:  # from the outside in
            for row in self.rows(card):
                inside = found[card.id] - self.around(card)
                needed, room = self._columns(card, row, least), inside - BETWEEN * (len(row) - 1)
                is_even = max(needed) * len(row) <= room
                spare = room / len(row) if is_even else (room - sum(needed)) / len(row)
                for column, w in zip(row, needed, strict=True):
                    found |= {self.parts(card)[k].id: spare if is_even else w + spare for k in column}
        return found

    def _columns(self, card: Card, row: Row, least: dict[str, float]) -> list[float]:
        """How wide the columns of a row are at least."""
        return [max(least[self.parts(card)[k].id] for k in column) for column in row]

    def rows(self, card: Card) -> list[Row]:
        """How the parts of a card stand."""
        return self.frames[card.id].rows if card.id in self.frames else []

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

    def right(self, card: Card) -> float:
        """How far from its left edge its parts end."""
        return self.left(card) + self.widths[card.id] - self.around(card)

    def lefts(self, card: Card) -> list[float]:
        """How far each of its parts stands from its left edge."""
        if card.id in self._lefts:
            return self._lefts[card.id]
        parts, found = self.parts(card), [self.left(card)] * len(self.parts(card))
        self._lefts[card.id] = found
        for row in self.rows(card):
            x = self.left(card)
            for column in row if len(row) > 1 else ():
                for k in column:
                    found[k] = x
                x += self.widths[parts[column[0]].id] + BETWEEN
        return found

    def span(self, card: Card, flow: Flow) -> tuple[float, float]:
        """Left edge and width of the column that a way keeps to."""
        part = self.frames[card.id].in_column(flow)
        if part is None:
            return self.left(card), self.right(card) - self.left(card)
        return self.lefts(card)[part], self.widths[self.parts(card)[part].id]

    def header(self, card: Card) -> float:
        """How far down its parts begin."""
        return 0.0 if card is self.root else HEADER

    def heights(self, opened: frozenset[str]) -> dict[str, float]:
        """Of every card, if those are open."""
        found: dict[str, float] = {}
        for card in reversed(list(walk(self.root))):
            found[card.id] = self.closed[card.id]
            if card.id in opened:
                found[card.id] = self.header(card) + GAP + sum(self._tall(card, row, found) for row in self.rows(card))
                found[card.id] -= GAP if card is self.root else 0.0  # nothing leaves the program
        return found

    def tops(self, card: Card, heights: dict[str, float]) -> list[float]:
        """Of the parts of an open card, from its top."""
        parts, y = self.parts(card), self.header(card) + GAP
        found = [0.0] * len(parts)
        for row in self.rows(card):
            for column in row:
                top = y
                for k in column:
                    found[k] = top
                    top += heights[parts[k].id] + GAP
            y += self._tall(card, row, heights)
        return found

    def _tall(self, card: Card, row: Row, heights: dict[str, float]) -> float:
        """px of a row with the gap below it."""
        return max(sum(heights[self.parts(card)[k].id] + GAP for k in column) for column in row)

    def ends(self, card: Card, flow: Flow, heights: dict[str, float]) -> Ends:
        """From where to where a way leads."""
        parts, tops, frame = self.parts(card), self.tops(card, heights), self.frames[card.id]
        bottoms = [top + heights[part.id] for part, top in zip(parts, tops, strict=True)]
        begin = top = self.header(card) if flow.source == ENTRANCE else bottoms[flow.source]
        if flow.source != ENTRANCE and not frame.is_straight(flow):
            top = max(bottoms[k] for column in frame.rows[frame.spots[flow.source].row] for k in column)
        return Ends(begin, top, heights[card.id] if flow.target == EXIT else tops[flow.target])


def _closed_height(card: Card, labels: Labels) -> float:
    if card.kind in ("ops", "root"):
        return PILL
    rows = len(labels.lines(card))
    return HEADER + (CHIPS if has_chips(card, labels) else 0.0) + (rows * ROW + BOTTOM if rows else 0.0)


def has_chips(card: Card, labels: Labels) -> bool:
    """Has it a line of what is in it, or of its turns?"""
    return labels.rows is None and card.depth > 0 and (bool(labels.inside.of(card)) or is_in_time(card))
