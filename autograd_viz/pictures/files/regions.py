"""The regions that a step changes, and the part of a picture in them. Only these parts are redrawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...graph.trace import Step
from ..layout.geometry import Arrow, Box, CodeLine, Geometry, Label
from ..layout.measure import ADVANCE, columns
from ..render.pen import cell_address

Rect = tuple[float, float, float, float]  # left, top, right, bottom
OUTLINE = 6.0  # px around a highlighted box
HEAD = 12.0  # half the width of the widest arrow head, plus a margin
CALL = 20_000  # px; one more region costs as much time as drawing so many px


def touch(a: Rect, b: Rect) -> bool:
    """Do two rectangles overlap in more than an edge?"""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def common(a: Rect, b: Rect) -> Rect:
    """The intersection of two rectangles."""
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def around(a: Rect, b: Rect) -> Rect:
    """The smallest rectangle around two."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def merged(rects: Iterable[Rect]) -> list[Rect]:
    """Rectangles that cover the same area, merged where that is cheaper."""
    left, done = list(rects), list[Rect]()
    while left:
        a = left.pop()
        for b in done:
            if _area(around(a, b)) <= _area(a) + _area(b) + CALL:
                done.remove(b)
                left.append(around(a, b))  # it may merge with others now
                break
        else:
            done.append(a)
    return done


def _area(a: Rect) -> float:
    return (a[2] - a[0]) * (a[3] - a[1])


class Places:
    """The positions of everything in a picture."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self._boxes = [(b, _box(b)) for b in geometry.boxes]
        self._labels = [(x, _label(x)) for x in geometry.labels]
        self._code = [(line, _code(line)) for line in geometry.code]
        self._arrows = [(a, _segments(a)) for a in geometry.arrows]
        self.at: dict[str, list[Rect]] = {b.id: [rect] for b, rect in self._boxes}
        for b in geometry.boxes:
            self.at |= {f"{b.id}.{row.key}": [(b.x, row.y - 2, b.x + b.w, row.y + row.h + 2)] for row in b.rows}
        for x, rect in self._labels:
            self.at.setdefault(x.at, []).append(rect)
        for a, rects in self._arrows:
            self.at.setdefault(a.at, []).extend(rects)

    def changed(self, before: Step | None, step: Step, seen: Rect) -> list[Rect]:
        """The regions in `seen` that differ between `step` and the step before."""
        places = dict.fromkeys(n for s in (before, step) if s for n in (s.node, *(cell_address(c.at) for c in s.changes)))
        return merged(common(rect, seen) for at in places for rect in self.at.get(at, ()) if touch(rect, seen))

    def part(self, region: Rect) -> Geometry:
        """The part of the picture in a region. A net is included whole or not at all: its arrows are drawn in pieces."""
        nets = {a.net for a, rects in self._arrows if any(touch(r, region) for r in rects)}
        return replace(
            self.geometry,
            boxes=tuple(b for b, rect in self._boxes if touch(rect, region)),
            arrows=tuple(a for a in self.geometry.arrows if a.net in nets),
            labels=tuple(x for x, rect in self._labels if touch(rect, region)),
            code=tuple(line for line, rect in self._code if touch(rect, region)),
            x=region[0],
            y=region[1],
            width=region[2] - region[0],
            height=region[3] - region[1],
        )


def _box(b: Box) -> Rect:
    return b.x - OUTLINE, b.y - OUTLINE, b.x + b.w + OUTLINE, b.y + b.h + OUTLINE


def _label(x: Label) -> Rect:
    return x.x - 8, x.y - 2, x.x + x.w + 8, x.y + x.h + 2


def _code(line: CodeLine) -> Rect:
    return line.x - columns(line.text) * ADVANCE * line.size - 4, line.y - line.size - 4, line.x + 4, line.y + 8


def _segments(a: Arrow) -> list[Rect]:
    pairs = zip(a.points, a.points[1:], strict=False)
    return [(min(x, p) - HEAD, min(y, q) - HEAD, max(x, p) + HEAD, max(y, q) + HEAD) for (x, y), (p, q) in pairs]
