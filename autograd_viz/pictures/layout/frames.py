"""Frames around open groups.

# Note [Honest frames]
A frame contains exactly the boxes of its group. Row by row it is as wide as they are. Where a box of another group stands in
between, the frame goes around it, or becomes two frames of one name. Each frame takes less than half of the room
between neighbours of different groups.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from ...graph.frames import OpenGroup
from .geometry import Frame, Point
from .ladder import Ladder
from .measure import FRAME_SIZE, cut, text_width
from .parts import Part, Wire, simplified

TITLE, FOOT, ASIDE, MOST_ASIDE = 20, 6, 4, 16  # px between a frame and its contents: above, below, beside
LEAST = 20  # px that adjacent rows of one frame share
AWAY = 20  # px to a box of another group, in a row without boxes of the frame
FAR = 400  # px: a frame does not reach further for a box
NOTCH = 200  # px: a smaller step in an outline is smoothed
Rows = list[list[Part]]


@dataclass
class Span:
    """How far a frame goes in one row, and the boxes of other groups that limit it. `passes`: it has no box in this row."""

    row: int
    lo: float
    hi: float
    least: float = -inf
    most: float = inf
    passes: bool = False


@dataclass
class Piece:
    """A frame, or a part of one, on one ladder. `over` and `under` are px above its first and below its last row."""

    group: OpenGroup
    ladder: Ladder
    spans: list[Span]
    over: float = 0
    under: float = 0


def pieces_of(groups: Iterable[OpenGroup], ladders: Iterable[Ladder]) -> list[Piece]:
    """The frames of open groups, on both ladders, those around others first."""
    found: list[Piece] = []
    for ladder in ladders:
        rows = [sorted(line, key=lambda p: p.x) for line in ladder.rows]
        place = {p.id: p.row for line in rows for p in line}
        framed: dict[int, list[Span]] = defaultdict(list)
        for group in sorted(groups, key=lambda g: g.height):
            for spans in _shapes(group, rows, place):
                _even(spans, framed)
                found.append(Piece(group, ladder, spans))
                for span in spans:
                    framed[span.row].append(span)
    return found[::-1]


def _shapes(group: OpenGroup, rows: Rows, place: dict[str, int]) -> list[list[Span]]:
    """The spans of each frame: runs of the group's boxes in a row. Rows are joined unless boxes stand between."""
    shapes: list[list[Span]] = []
    for row in sorted({place[id] for id in group.members if id in place}):
        for span in _runs(rows[row], row, group.members):
            for shape in reversed(shapes):
                if row - 2 <= shape[-1].row < row and (way := _way(shape[-1], span, rows)) is not None:
                    shape += [*way, span]
                    break
            else:
                shapes.append([span])
    return shapes


def _runs(line: list[Part], row: int, members: frozenset[str]) -> list[Span]:
    """Runs of members in a row, with no other box between them."""
    runs: list[Span] = []
    before: Part | None = None
    for p in line:
        is_member = p.id.removeprefix("ctx:") in members
        was_member = before is not None and before.id.removeprefix("ctx:") in members
        if is_member and was_member:
            runs[-1].hi = p.end
        elif is_member:
            runs.append(Span(row, p.x, p.end, -inf if before is None else (before.end + p.x) / 2))
        elif before is not None and was_member:
            runs[-1].most = (before.end + p.x) / 2
        before = p
    return runs


def _way(above: Span, below: Span, rows: Rows) -> list[Span] | None:
    """Spans for the rows between two spans; these are widened until all overlap. None if boxes are in the way."""
    lo, hi = max(above.lo, below.lo), min(above.hi, below.hi)
    if hi - lo < LEAST:
        for near, far in ((below, above), (above, below)):
            start, end = min(near.lo, far.hi - LEAST), max(near.hi, far.lo + LEAST)
            if near.least < start and end < near.most and max(near.lo - start, end - near.hi) < FAR:
                near.lo, near.hi = start, end
                break
        else:
            return None
        lo, hi = max(above.lo, below.lo), min(above.hi, below.hi)
    way = [_passing(rows[row], row, lo, hi) for row in range(above.row + 1, below.row)]
    free = [span for span in way if span is not None]
    return free if len(free) == len(way) else None


def _passing(line: list[Part], row: int, lo: float, hi: float) -> Span | None:
    """The widest free span of a row."""
    ends = [-inf, *(p.end + AWAY for p in line)]
    starts = [*(p.x - AWAY for p in line), inf]
    gaps = [Span(row, max(lo, a), min(hi, b), a, b, True) for a, b in zip(ends, starts, strict=True)]
    widest = max(gaps, key=lambda span: span.hi - span.lo)
    return widest if widest.hi - widest.lo >= LEAST else None


def _even(spans: list[Span], inner: Mapping[int, list[Span]]) -> None:
    """Remove corners: make a rectangle if it fits, else remove small steps. Then widen the spans around inner frames."""
    left, right = min(s.lo for s in spans), max(s.hi for s in spans)
    if all(s.least < left and right < s.most for s in spans):
        for span in spans:
            span.lo, span.hi = left, right
    for a, b in [*pairwise(spans), *pairwise(spans[::-1])]:
        if 0 < a.lo - b.lo < NOTCH and not a.passes:
            a.lo = max(b.lo, a.least)
        if 0 < b.hi - a.hi < NOTCH and not a.passes:
            a.hi = min(b.hi, a.most)
    for span in spans:
        for other in inner[span.row]:
            if _meet(span, other):
                span.lo, span.hi = min(span.lo, max(other.lo, span.least)), max(span.hi, min(other.hi, span.most))


def _meet(a: Span, b: Span) -> bool:
    return a.lo < b.hi and b.lo < a.hi


def reserve(pieces: Iterable[Piece]) -> None:
    """Keep lines away from where titles and lower ends of frames will be. Labels of arrows stay next to the boxes."""
    over: dict[tuple[bool, int], list[Piece]] = defaultdict(list)
    under: dict[tuple[bool, int], list[Piece]] = defaultdict(list)
    for piece in sorted(pieces, key=lambda p: p.group.height):
        first, last, gaps = piece.spans[0], piece.spans[-1], piece.ladder
        inner = [p.over for p in over[gaps.is_right, first.row] if _meet(p.spans[0], first)]
        piece.over = max(inner, default=gaps.below[first.row]) + TITLE
        over[gaps.is_right, first.row].append(piece)
        inner = [p.under for p in under[gaps.is_right, last.row] if _meet(p.spans[-1], last)]
        piece.under = max(inner, default=gaps.above[last.row + 1] + 2) + FOOT
        under[gaps.is_right, last.row].append(piece)
    for (_, row), all in over.items():
        all[0].ladder.below[row] = max(p.over for p in all)
    for (_, row), all in under.items():
        all[0].ladder.above[row + 1] = max(p.under for p in all)


def frames_of(pieces: Iterable[Piece], wires: Iterable[Wire], shift: float) -> tuple[Frame, ...]:
    """The frames, once heights are known and wires are traced; `shift` moves the right ladder to the right."""
    lines = sorted((a[0], min(a[1], b[1]), max(a[1], b[1])) for wire in wires for a, b in pairwise(wire.points) if a[0] == b[0])
    return tuple(_frame(piece, lines, shift if piece.ladder.is_right else 0) for piece in pieces)


def _frame(piece: Piece, lines: list[tuple[float, float, float]], shift: float) -> Frame:
    outline = [(x + shift, y) for x, y in _outline(piece)]
    (left, top), (right, _) = outline[0], outline[1]
    room = int((right - left - 12) / text_width(" ", FRAME_SIZE))
    short = piece.group.title.partition(" · ")[0]  # without the class
    title = piece.group.title if len(piece.group.title) <= room else cut(short, room)
    width = text_width(title, FRAME_SIZE)
    crossed = [
        x for x, y0, y1 in lines[bisect_left(lines, (left,)) : bisect_left(lines, (right,))] if y0 < top + TITLE and top < y1
    ]
    starts = [left + 8, *(x + 6 for x in crossed)]
    free = (s for s in starts if s + width < right - 4 and not any(s - 4 < x < s + width + 4 for x in crossed))
    return Frame(piece.group.id, title, tuple(outline), next(free, left + 8), top + 14)


def _outline(piece: Piece) -> list[Point]:
    """The corners, clockwise from the top left one: down the right side, and up the left one."""
    ladder, spans = piece.ladder, piece.spans
    aside = min(ASIDE * piece.group.height, MOST_ASIDE)
    los = [max(s.lo - aside, s.least + 1) for s in spans]
    his = [min(s.hi + aside, s.most - 1) for s in spans]
    top, end = ladder.top[spans[0].row] - piece.over, ladder.bottom[spans[-1].row] + piece.under
    right: list[Point] = [(his[0], top)]
    left: list[Point] = [(los[0], top)]
    for i, span in enumerate(spans[1:], 1):
        above, below = ladder.bottom[span.row - 1], ladder.top[span.row]
        wide = max(above + 1, below - ladder.below[span.row] - 3)  # where a frame becomes wider above the row,
        narrow = min(below - 1, above + ladder.above[span.row] + 3)  # and where it becomes narrower below the row before
        for side, xs, is_wider in ((right, his, his[i] > his[i - 1]), (left, los, los[i] < los[i - 1])):
            y = wide if is_wider else narrow
            side += [(xs[i - 1], y), (xs[i], y)]
    return simplified([left[0], *right, (his[-1], end), (los[-1], end), *reversed(left[1:])])
