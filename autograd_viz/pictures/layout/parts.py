"""The working parts of a layout before it is finished: boxes without places, pins, wires.

# Note [Two ladders]
Forward boxes stand on the left ladder, backward boxes on the right one. Both have the same rows:
- Row 2k holds the tensors (left) and the AccumulateGrads (right) of band k.
- Row 2k + 1 holds its ops and ctx (left) and its backward nodes (right).
Gap r lies above row r and holds horizontal tracks. Between the ladders lies a corridor of vertical lanes. Horizontal lines of
the left ladder run at y = 10n + 5, those of the right one at 10n. So lines that meet in the corridor keep apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PITCH = 10  # px between parallel lines
LEFT, RIGHT = 0, 1

Net = tuple[str, ...]


@dataclass(eq=False)
class Part:
    """A box that is being placed."""

    id: str
    kind: str
    row: int
    w: float
    h: float
    left: float = 0  # px kept free beside the box for lanes and labels
    right: float = 20
    centre: float = 0  # x
    y: float = 0
    ports: dict[str, float] = field(default_factory=dict)  # name -> px below the top of the box
    rows: list[tuple[str, float, float]] = field(default_factory=list)  # key, px below the top, height

    @property
    def x(self) -> float:
        """The left edge."""
        return self.centre - self.w / 2

    @property
    def end(self) -> float:
        """The right edge."""
        return self.centre + self.w / 2


@dataclass(eq=False)
class Pin:
    """A vertical line that enters a gap at x, from the row above it if `top`."""

    x: float
    net: Net = ()
    gap: int = -1
    top: bool = True


@dataclass(frozen=True)
class Turn:
    """A step of a wire. It sets one coordinate: the x of a pin, the y of a track, or the x of a corridor lane."""

    to: Literal["pin", "track", "lane"]
    side: int = LEFT
    pin: Pin | None = None
    gap: int = -1


@dataclass
class End:
    """Where a wire touches a box: px from its left and top (or a port). If dx is None, the x of the wire."""

    part: Part
    dx: float | None
    dy: float | str

    def y(self) -> float:
        """The y of this end."""
        return self.part.y + (self.part.ports[self.dy] if isinstance(self.dy, str) else self.dy)


@dataclass
class Wire:
    """An arrow that is being routed."""

    at: str
    kind: str
    net: Net
    start: End
    end: End
    path: list[Turn]
    label_width: float = 0
    label_side: str = ""  # "right" of its start, "up" from it, or "end": over its head
    label_text: str = ""  # text that is always shown: a count of edges
    points: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Crossing:
    """A wire that crosses the corridor, with its gaps on the left and on the right. A gap is None if it starts at a box."""

    net: Net
    wire: Wire
    left_gap: int | None
    right_gap: int | None


def simplified(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners without duplicates, and without points in the middle of a straight piece."""
    points: list[tuple[float, float]] = []
    for p in corners:
        x, y = p
        while len(points) > 1 and (points[-2][0] == points[-1][0] == x or points[-2][1] == points[-1][1] == y):
            points.pop()
        if not points or p != points[-1]:
            points.append(p)
    return points
