"""One side of the picture: its rows of boxes, the gaps between them, which places are occupied, and tracks in the gaps."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import inf

from .parts import PITCH, Net, Part, Pin

NEAR = 7  # px; closer vertical lines would look like one
CLEAR = 9  # px kept free on both sides of a vertical line
TOO_MANY = 80  # nets in one gap: for more, crossings are not counted
Span = tuple[float, float]
Pairs = Iterable[tuple[Net, Net]]


class Ladder:
    """Rows and gaps of one side. Layer 2r is gap r, layer 2r + 1 is row r."""

    def __init__(self, count: int, is_right: bool, room: float = 20) -> None:
        self.is_right, self.room = is_right, room  # room: px of a gap around its tracks
        self.rows: list[list[Part]] = [[] for _ in range(count)]  # the boxes of each row
        self.taken: list[list[tuple[float, float, Net]]] = [[] for _ in range(2 * count + 1)]
        self.trunks: list[tuple[float, float, Net, range]] = []
        self.reach = 0.0
        self.pins: list[list[Pin]] = [[] for _ in range(count + 1)]  # the vertical lines that enter each gap
        self.open: list[set[Net]] = [set() for _ in range(count + 1)]  # nets that leave a gap towards the corridor
        self.track: list[dict[Net, int]] = [{} for _ in range(count + 1)]
        self.count = [0] * (count + 1)  # track, count: number of each net's track in a gap, and of all tracks there
        self.above, self.below = [0.0] * (count + 1), [0.0] * (count + 1)  # px of each gap for labels at its top and bottom
        self.top: list[float] = []
        self.bottom: list[float] = []
        self.moved: dict[tuple[int, Net], float] = {}

    def take(self, layer: int, lo: float, hi: float, net: Net = ()) -> None:
        """Keep other nets' lines out of lo < x < hi."""
        self.reach = max(self.reach, hi)
        self.taken[layer].append((lo, hi, net))

    def port(self, x: float, net: Net, gap: int, top: bool) -> Pin:
        """The pin of `net` at x. It is made at the first request."""
        for p in self.pins[gap]:
            if p.net == net and p.x == x and p.top == top:
                return p
        self.pins[gap].append(Pin(x, net, gap, top))
        return self.pins[gap][-1]

    def lane(self, x: float, net: Net, gap: int, row: int) -> Pin:
        """A vertical line beside a box of `row`, on its way to `gap`."""
        self.take(2 * row + 1, x - CLEAR, x + CLEAR, net)
        return self.port(x, net, gap, row < gap)

    def blocked(self, layers: range, net: Net) -> list[tuple[float, float]]:
        """What other nets occupy in any of the layers: disjoint intervals, from left to right."""
        # a set: boxes under each other occupy the same interval
        spans = {(lo, hi) for i in layers for lo, hi, other in self.taken[i] if other != net}
        first, last = layers.start, layers.stop
        spans.update((lo, hi) for lo, hi, other, by in self.trunks if by.start < last and first < by.stop and other != net)
        joined: list[tuple[float, float]] = []
        for lo, hi in sorted(spans):
            if joined and lo < joined[-1][1]:
                joined[-1] = joined[-1][0], max(hi, joined[-1][1])
            else:
                joined.append((lo, hi))
        return joined

    def trunk(self, net: Net, source: Pin, target: Pin, least: float) -> Pin:
        """Reserve a vertical line from the gap of one pin to the gap of the other, at the nearest free x."""
        upper, lower = min(source.gap, target.gap), max(source.gap, target.gap)
        layers = range(2 * upper, 2 * lower + 1)
        own = [p.x for p in self.pins[target.gap] if p.net == net and p is not target]
        blocked = self.blocked(layers, net)
        tries = [first_free(blocked, target.x, side) for side in (False, True)]
        tries += [x for x in own if first_free(blocked, x, True) == x]
        bonus = 3 * PITCH  # a shared line saves a line
        x = min((x for x in tries if x >= least), key=lambda x: abs(x - source.x) + abs(x - target.x) - bonus * (x in own))
        self.reach = max(self.reach, x + CLEAR)
        self.trunks.append((x - CLEAR, x + CLEAR, net, layers))
        self.port(x, net, upper, False)
        return self.port(x, net, lower, True)

    def stacked(self, gap: int) -> list[tuple[Pin, Pin]]:
        """Pins of different nets that stand over each other: the upper one must turn first."""
        lower: dict[int, list[Pin]] = defaultdict(list)
        for p in self.pins[gap]:
            if not p.top:
                lower[round(p.x) // 10].append(p)
        uppers = (p for p in self.pins[gap] if p.top)
        near = ((p, q) for p in uppers for n in (-1, 0, 1) for q in lower[round(p.x) // 10 + n])
        return [(p, q) for p, q in near if p.net != q.net and abs(p.x - q.x) < NEAR]

    def break_cycles(self, gap: int) -> None:
        """Move pins aside until an order of tracks satisfies `stacked`."""
        while live := _cyclic(self.stacked(gap)):
            pin = live[0][0 if self.is_right else 1]
            others = [p.x for p in self.pins[gap] if p.net != pin.net]
            steps = (sign * d for d in range(NEAR + 1, 40, NEAR) for sign in (1, -1))
            pin.x += next(d for d in steps if all(abs(pin.x + d - o) >= NEAR for o in others))

    def assign(self) -> None:
        """Give every net a track in every gap it uses."""
        for gap, pins in enumerate(self.pins):
            spans: dict[Net, tuple[float, float]] = {}
            for p in pins:
                lo, hi = spans.get(p.net, (inf, -inf))
                spans[p.net] = min(lo, p.x), max(hi, p.x)
            for n in self.open[gap]:
                spans[n] = (-1e9, spans[n][1]) if self.is_right else (spans[n][0], 1e9)
            spans = {n: s for n, s in spans.items() if s[0] < s[1]}
            wish = fewer_crossings(spans, [(p.net, p.x, p.top) for p in pins if p.net in spans])
            order = [(p.net, q.net) for p, q in self.stacked(gap)]
            self.track[gap], self.count[gap] = assign_tracks(spans, order, wish)

    def gap_height(self, gap: int, least: float) -> float:
        """The height that a gap needs."""
        lines = PITCH * self.count[gap] + self.room if self.count[gap] else 0
        return max(least, self.above[gap] + self.below[gap] + lines)

    def track_y(self, gap: int, net: Net) -> float:
        """The y of a net's track. The tracks stand in the middle of the space between labels."""
        if (gap, net) in self.moved:
            return self.moved[gap, net]
        above, below = self._edges(gap)
        free = below - self.below[gap] - above - self.above[gap] - PITCH * (self.count[gap] - 1)
        first = PITCH * (free // 20) if self.is_right else PITCH * ((free - PITCH) // 20) + 5
        return above + self.above[gap] + first + PITCH * self.track[gap].get(net, 0)

    def level(self, gap: int, net: Net, y: float) -> bool:
        """Move a net's track to y, if the gap is free there."""
        above, below = self._edges(gap)
        others = {n: self.track_y(gap, n) for n in self.track[gap] if n != net}
        inside = above + self.above[gap] + 10 <= y and (gap == len(self.top) or y <= below - self.below[gap] - 15)
        apart = all(abs(y - z) >= PITCH for z in others.values())
        in_order = not any(
            (p.net == net and others.get(q.net, inf) < y) or (q.net == net and others.get(p.net, -inf) > y)
            for p, q in self.stacked(gap)
        )
        if fits := inside and apart and in_order:
            self.moved[gap, net] = y
        return fits

    def _edges(self, gap: int) -> tuple[float, float]:
        """Bottom of the row above a gap and top of the row below it."""
        above = self.bottom[gap - 1] if gap else 0
        return above, self.top[gap] if gap < len(self.top) else above + self.gap_height(gap, 40)


def first_free(blocked: list[tuple[float, float]], x: float, to_the_right: bool) -> float:
    """The first x from here, in one direction, that is outside all intervals."""
    at = bisect_left(blocked, (x,)) - 1
    if at < 0 or not blocked[at][0] < x < blocked[at][1]:
        return x
    return blocked[at][1] if to_the_right else blocked[at][0]


def _cyclic(pairs: Iterable[tuple[Pin, Pin]]) -> list[tuple[Pin, Pin]]:
    """The pairs that form cycles: nets without predecessors or without successors are removed."""
    live, size = list(pairs), -1
    while len(live) != size:
        size = len(live)
        first, second = {p.net for p, _ in live}, {q.net for _, q in live}
        live = [(p, q) for p, q in live if p.net in second and q.net in first]
    return live


def fewer_crossings(spans: Mapping[Net, Span], pins: list[tuple[Net, float, bool]]) -> list[tuple[Net, Net]]:
    """Pairs (a, b) whose lines cross less often if the track of a comes before that of b. Each of the `pins`: net, place along
    the track, does it come from before the tracks.
    """
    by_net: dict[Net, list[tuple[float, bool]]] = defaultdict(list)
    for net, x, first in pins:
        by_net[net].append((x, first))

    def crossings(a: Net, b: Net) -> int:
        down = sum(not first and spans[b][0] < x < spans[b][1] for x, first in by_net[a])
        return down + sum(first and spans[a][0] < x < spans[a][1] for x, first in by_net[b])

    pairs: list[tuple[Net, Net]] = []
    for a, b in combinations(spans, 2) if len(spans) < TOO_MANY else ():
        if spans[a][0] < spans[b][1] and spans[b][0] < spans[a][1]:
            gain = crossings(b, a) - crossings(a, b)
            pairs += [(a, b)] * (gain > 0) + [(b, a)] * (gain < 0)
    return pairs


def _waits(spans: Mapping[Net, Span], pairs: Pairs) -> dict[Net, set[Net]]:
    waits: dict[Net, set[Net]] = defaultdict(set)
    for a, b in pairs:
        if a in spans and b in spans and a != b:
            waits[b].add(a)
    return waits


def assign_tracks(spans: Mapping[Net, Span], before: Pairs, wish: Pairs = ()) -> tuple[dict[Net, int], int]:
    """Number the tracks of nets; returns the numbers and how many tracks there are. Nets on one track do not touch. For (a, b)
    in `before`, the track of a comes before that of b. The pairs in `wish` are followed where possible.
    """
    must, should = _waits(spans, before), _waits(spans, wish)
    todo, number = sorted(spans, key=lambda n: (spans[n], n)), 0
    track: dict[Net, int] = {}
    while todo:
        end, here = -inf, []
        free = [n for n in todo if must[n] <= track.keys()] or todo[:1]  # `todo[:1]` breaks a cycle
        for n in [n for n in free if should[n] <= track.keys()] or free[:1]:
            if end == -inf or spans[n][0] > end + PITCH:
                here.append(n)
                end = spans[n][1]
        track.update(dict.fromkeys(here, number))
        todo = [n for n in todo if n not in track]
        number += 1
    return track, number
