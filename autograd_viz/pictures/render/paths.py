"""Arrows as SVG path data: rounded bends, heads, and shared lines that are drawn once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..layout.geometry import Arrow, Point

RADIUS = 8  # px of a bend
Interval = tuple[float, float]
Lines = dict[tuple[int, float], list[Interval]]  # the covered intervals, by axis (0: horizontal) and the coordinate across it


def rounded(points: list[Point], cut: float = 0) -> str:
    """Path data through `points` with rounded bends, ending `cut` before the last point."""
    (x, y), (a, b) = points[-2], points[-1]
    length = abs(a - x) + abs(b - y)
    cut = min(cut, 0.9 * length)
    points = [*points[:-1], (a - (a - x) / length * cut, b - (b - y) / length * cut)]
    d = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for (a, b), (x, y), (e, f) in zip(points, points[1:], points[2:], strict=False):
        before, after = abs(a - x) + abs(b - y), abs(e - x) + abs(f - y)  # of lines along the axes
        r = min(RADIUS, before / 2, after / 2)
        s, t = r / before, r / after
        d.append(f"L{x + (a - x) * s:g} {y + (b - y) * s:g}Q{x:g} {y:g} {x + (e - x) * t:g} {y + (f - y) * t:g}")
    return "".join(d) + f"L{points[-1][0]:g} {points[-1][1]:g}"


def ring(points: Sequence[Point]) -> str:
    """Path data of a closed line with rounded bends; it begins in the middle of its first piece."""
    (x, y), (a, b) = points[0], points[1]
    middle = ((x + a) / 2, (y + b) / 2)
    return rounded([middle, *points[1:], points[0], middle]) + "Z"


def head(points: tuple[Point, ...], size: float) -> str:
    """Path data of a filled arrow head at the last point."""
    (x, y), (a, b) = points[-2], points[-1]
    u, v = (a > x) - (a < x), (b > y) - (b < y)
    wide = size * 0.45
    left, right = (a - u * size - v * wide, b - v * size - u * wide), (a - u * size + v * wide, b - v * size + u * wide)
    return f"M{a:g} {b:g}L{left[0]:g} {left[1]:g}L{right[0]:g} {right[1]:g}Z"


def own_pieces(arrows: tuple[Arrow, ...]) -> dict[str, list[list[Point]]]:
    """For each arrow, the pieces that no earlier arrow of its net covers, plus a bend's length at a joint. So a line that
    several arrows share is drawn once.
    """
    of_net = Counter(arrow.net for arrow in arrows)
    covered: dict[tuple[str, ...], Lines] = {}
    pieces = {}
    for arrow in arrows:
        lines = covered.setdefault(arrow.net, {})
        pieces[arrow.at] = [list(arrow.points)] if not lines else _uncovered(arrow.points, lines)
        if of_net[arrow.net] == 1:
            continue
        for a, b in zip(arrow.points, arrow.points[1:], strict=False):
            axis = _axis(a, b)
            place = axis, a[1 - axis]
            lines[place] = _with(lines.get(place, []), *sorted((a[axis], b[axis])))
    return pieces


def _axis(a: Point, b: Point) -> int:
    return 0 if a[1] == b[1] else 1


def _with(intervals: list[Interval], lo: float, hi: float) -> list[Interval]:
    """Disjoint intervals with one added, merged with those that it touches."""
    met = [i for i in intervals if i[0] <= hi and lo <= i[1]]
    apart = [i for i in intervals if i[0] > hi or lo > i[1]]
    return [*apart, (min([lo, *(i[0] for i in met)]), max([hi, *(i[1] for i in met)]))]


def _uncovered(points: tuple[Point, ...], lines: Lines) -> list[list[Point]]:
    free: list[Interval] = []
    total, at = _length(points), 0.0
    for a, b in zip(points, points[1:], strict=False):
        for lo, hi in _gaps(a, b, lines):
            if free and abs(free[-1][1] - (at + lo)) < 0.01:
                free[-1] = (free[-1][0], at + hi)
            else:
                free.append((at + lo, at + hi))
        at += _length((a, b))
    return [_part(points, max(0.0, lo - RADIUS), min(total, hi + RADIUS)) for lo, hi in free]


def _length(points: tuple[Point, ...]) -> float:
    return sum(abs(b[0] - a[0]) + abs(b[1] - a[1]) for a, b in zip(points, points[1:], strict=False))


def _gaps(a: Point, b: Point, lines: Lines) -> list[Interval]:
    """The parts of segment a-b, as distances from a, that none of the lines covers."""
    axis = _axis(a, b)
    size, sign = abs(b[axis] - a[axis]), 1 if b[axis] > a[axis] else -1
    taken = []
    for p, q in lines.get((axis, a[1 - axis]), ()):
        lo, hi = sorted(((p - a[axis]) * sign, (q - a[axis]) * sign))
        if lo < size and hi > 0:
            taken.append((max(0.0, lo), min(size, hi)))
    gaps, at = [], 0.0
    for lo, hi in sorted(taken):
        if lo > at:
            gaps.append((at, lo))
        at = max(at, hi)
    return [*gaps, (at, size)] if at < size else gaps


def _part(points: tuple[Point, ...], start: float, end: float) -> list[Point]:
    """The polyline between two distances from its beginning."""
    part: list[Point] = []
    at = 0.0
    for a, b in zip(points, points[1:], strict=False):
        size = _length((a, b))
        lo, hi = max(start, at), min(end, at + size)
        if lo <= hi:
            for distance in (lo, hi):
                t = (distance - at) / size
                p = (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t)
                if not part or part[-1] != p:
                    part.append(p)
        at += size
    return part
