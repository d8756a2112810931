"""The holdings as a tree of modules, and as a squarified treemap: a rectangle for each part that is large enough to be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from ...graph.paths import Path
from ...graph.storages import KINDS
from .facts import Facts, Holding

HEADER, SIDE = 17.0, 2.0  # px of a module's title, and around its parts
LEAST = (54.0, 40.0)  # px of a module with a title
TINY = 30.0  # px²: smaller blocks of a module are drawn as one
CLOSED = 500.0  # px²: a smaller module is drawn as one block for each kind


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
    is_wide, short = w >= h, min(w, h)
    thick = total / short if short else 0.0
    sizes = [area / thick if thick else 0.0 for area in areas]
    ends = accumulate(sizes, initial=y if is_wide else x)
    rects = [Rect(x, at, thick, n) if is_wide else Rect(at, y, n, thick) for at, n in zip(ends, sizes, strict=False)]
    return rects, Rect(x + thick, y, max(0.0, w - thick), h) if is_wide else Rect(x, y + thick, w, max(0.0, h - thick))


@dataclass(frozen=True, slots=True)
class Cell:
    """A block, or several of one kind that are too small to be drawn."""

    rect: Rect
    kind: str
    bytes: int
    holdings: Sequence[Holding]
    path: Path


@dataclass(frozen=True, slots=True)
class Frame:
    """A module around its parts; `is_titled` if its title has room."""

    rect: Rect
    path: Path
    title: str
    bytes: int
    is_titled: bool


@dataclass(slots=True)
class _Group:
    path: Path
    own: list[Holding] = field(default_factory=list)
    parts: list[_Group] = field(default_factory=list)
    bytes: int = 0


Item = tuple[_Group | Sequence[Holding], int, str]


def placed(facts: Facts, room: Rect) -> tuple[list[Frame], list[Cell]]:
    """All frames, outer ones first, and all cells."""
    frames: list[Frame] = []
    cells: list[Cell] = []
    todo: list[tuple[_Group, Rect, Path]] = [(_tree(facts), room, ())]
    while todo:
        group, rect, around = todo.pop()
        if group.path:
            is_titled = rect.w >= LEAST[0] and rect.h >= LEAST[1]
            # the path inside the module around; an item of a list with the name of the list
            start = len(around) - (group.path[len(around)].isdecimal() and bool(around))
            frames.append(Frame(rect, group.path, ".".join(group.path[start:]), group.bytes, is_titled))
            top = HEADER if is_titled else SIDE
            rect = Rect(rect.x + SIDE, rect.y + top, max(0.0, rect.w - 2 * SIDE), max(0.0, rect.h - SIDE - top))
        items = _items(group, rect)
        for (item, size, kind), place in zip(items, squarified([n for _, n, _ in items], rect), strict=True):
            if isinstance(item, _Group):
                todo.append((item, place, group.path))
            else:
                cells.append(Cell(place, kind, size, item, group.path))
    return frames, cells


def _tree(facts: Facts) -> _Group:
    """The modules that hold something; one that only holds another is drawn as that one."""
    groups: dict[Path, _Group] = {(): _Group(())}
    for h in facts.holdings:
        for k in range(len(h.path) + 1):
            groups.setdefault(h.path[:k], _Group(h.path[:k])).bytes += h.storage.bytes
        groups[h.path].own.append(h)
    for path, group in reversed(groups.items()):  # the inner ones first
        group.parts.reverse()
        inner = group.parts[0] if path and len(group.parts) == 1 and not group.own else group
        if path:
            groups[path[:-1]].parts.append(inner)
    return groups[()]


def _items(group: _Group, rect: Rect) -> list[Item]:
    """What is drawn in a rectangle, the largest first."""
    pixels = rect.area / group.bytes if group.bytes else 0.0
    if group.path and rect.area < CLOSED:
        found = list(_by_kind(_all(group)))
    else:
        small = [h for h in group.own if h.storage.bytes * pixels < TINY]
        found = [([h], h.storage.bytes, h.storage.kind) for h in group.own if h not in small]
        found += [*_by_kind(small), *((part, part.bytes, "") for part in group.parts)]
    return sorted(found, key=lambda item: -item[1])


def _by_kind(holdings: Sequence[Holding]) -> Iterator[Item]:
    kinds: dict[str, list[Holding]] = defaultdict(list)
    for h in holdings:
        kinds[h.storage.kind].append(h)
    return ((kinds[k], sum(h.storage.bytes for h in kinds[k]), k) for k in KINDS if k in kinds)


def _all(group: _Group) -> list[Holding]:
    found, todo = [], [group]
    while todo:
        found += (inner := todo.pop()).own
        todo += inner.parts
    return found
