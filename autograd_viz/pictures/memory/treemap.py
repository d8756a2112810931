"""A squarified treemap: rectangles in a rectangle, with areas in proportion, as square as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Rect(NamedTuple):
    """A rectangle in px."""

    x: float
    y: float
    w: float
    h: float

    @property
    def area(self) -> float:
        """px²."""
        return self.w * self.h

    def inset(self, side: float, top: float) -> Rect:
        """Smaller on all sides, and at the top."""
        return Rect(self.x + side, self.y + top, max(0.0, self.w - 2 * side), max(0.0, self.h - side - top))


def squarified(sizes: Sequence[float], room: Rect) -> list[Rect]:
    """A rectangle for each size. Sizes are positive, and the largest comes first."""
    found: list[Rect] = []
    scale = room.area / sum(sizes) if sizes else 0.0
    areas = [size * scale for size in sizes]
    start = 0
    while start < len(areas):
        short = min(room.w, room.h)
        end, total = start + 1, areas[start]
        worst = _worst(areas[start], areas[start], total, short)
        while end < len(areas) and (wider := _worst(areas[start], areas[end], total + areas[end], short)) <= worst:
            end, total, worst = end + 1, total + areas[end], wider
        rects, room = _row(areas[start:end], total, room)
        found += rects
        start = end
    return found


def _worst(largest: float, least: float, total: float, short: float) -> float:
    """The longest side of a row's rectangles divided by the other side, squared or so."""
    if not (short and total and least):
        return 0.0
    return max(short * short * largest / total**2, total**2 / (short * short * least))


def _row(areas: Sequence[float], total: float, room: Rect) -> tuple[list[Rect], Rect]:
    """A row along the shorter side, and the room that is left."""
    x, y, w, h = room
    found = []
    if w >= h:
        thick = total / h if h else 0.0
        for area in areas:
            found.append(Rect(x, y, thick, area / thick if thick else 0.0))
            y += found[-1].h
        return found, Rect(x + thick, room.y, max(0.0, w - thick), h)
    thick = total / w if w else 0.0
    for area in areas:
        found.append(Rect(x, y, area / thick if thick else 0.0, thick))
        x += found[-1].w
    return found, Rect(room.x, y + thick, w, max(0.0, h - thick))
