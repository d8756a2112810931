"""Arrows as SVG path data: rounded bends, heads, and nets drawn once where several arrows run together."""

from __future__ import annotations

from ..layout.geometry import Arrow, Point

RADIUS = 8  # px of a bend
Interval = tuple[float, float]
Lines = dict[tuple[int, float], list[Interval]]  # what is covered, by axis (0: horizontal) and the place across it


def rounded(points: list[Point], cut: float = 0) -> str:
    """Path data through `points` with rounded bends, ending `cut` before the last point."""
    points = _shortened(points, cut)
    d = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for before, (x, y), after in zip(points, points[1:], points[2:], strict=False):
        (x0, y0), r0 = _towards((x, y), before, RADIUS)
        (x1, y1), r1 = _towards((x, y), after, RADIUS)
        if min(r0, r1) < RADIUS:
            (x0, y0), _ = _towards((x, y), before, min(r0, r1))
            (x1, y1), _ = _towards((x, y), after, min(r0, r1))
        d.append(f"L{x0:g} {y0:g}Q{x:g} {y:g} {x1:g} {y1:g}")
    return "".join(d) + f"L{points[-1][0]:g} {points[-1][1]:g}"


def _towards(a: Point, b: Point, wish: float) -> tuple[Point, float]:
    """The point `wish` from a towards b, at most half way; and how far that is."""
    length = abs(b[0] - a[0]) + abs(b[1] - a[1])
    r = min(wish, length / 2)
    return (a[0] + (b[0] - a[0]) / length * r, a[1] + (b[1] - a[1]) / length * r), r


def _shortened(points: list[Point], cut: float) -> list[Point]:
    (x, y), (a, b) = points[-2], points[-1]
    length = abs(a - x) + abs(b - y)
    cut = min(cut, 0.9 * length)
    return [*points[:-1], (a - (a - x) / length * cut, b - (b - y) / length * cut)]


def head(points: tuple[Point, ...], size: float) -> str:
    """Path data of a filled arrow head at the last point."""
    (x, y), (a, b) = points[-2], points[-1]
    u, v = (a > x) - (a < x), (b > y) - (b < y)
    wide = size * 0.45
    left, right = (a - u * size - v * wide, b - v * size - u * wide), (a - u * size + v * wide, b - v * size + u * wide)
    return f"M{a:g} {b:g}L{left[0]:g} {left[1]:g}L{right[0]:g} {right[1]:g}Z"


def own_pieces(arrows: tuple[Arrow, ...]) -> dict[str, list[list[Point]]]:
    """For each arrow, the pieces that no earlier arrow of its net covers, with a bend's length of overlap at a joint.

    Drawn like this, a line that several arrows share is stroked once.
    """
    covered: dict[tuple[str, ...], Lines] = {}
    pieces = {}
    for arrow in arrows:
        lines = covered.setdefault(arrow.net, {})
        pieces[arrow.at] = [list(arrow.points)] if not lines else _uncovered(arrow.points, lines)
        for a, b in zip(arrow.points, arrow.points[1:], strict=False):
            axis = _axis(a, b)
            place = axis, a[1 - axis]
            lines[place] = _with(lines.get(place, []), *sorted((a[axis], b[axis])))
    return pieces


def _axis(a: Point, b: Point) -> int:
    return 0 if a[1] == b[1] else 1


def _with(intervals: list[Interval], lo: float, hi: float) -> list[Interval]:
    """Disjoint intervals with one more, joined with those that it meets."""
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
