"""The holdings as a tree of modules, and as a squarified treemap: a rectangle for each part that is large enough to be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...graph.paths import Path
from ...graph.storages import KINDS
from .facts import Facts, Holding


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


HEADER, SIDE = 17.0, 2.0  # px of a module's title, and around its parts
LEAST = (54.0, 40.0)  # px of a module with a title
TINY = 30.0  # px²: smaller blocks of a module are drawn as one
CLOSED = 500.0  # px²: a smaller module is drawn as one block for each kind


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


def placed(facts: Facts, room: Rect) -> tuple[list[Frame], list[Cell]]:
    """All frames, outer ones first, and all cells."""
    frames: list[Frame] = []
    cells: list[Cell] = []
    todo: list[tuple[_Group, Rect, Path]] = [(_tree(facts), room, ())]
    while todo:
        group, rect, around = todo.pop()
        if group.path:
            is_titled = rect.w >= LEAST[0] and rect.h >= LEAST[1]
            frames.append(Frame(rect, group.path, _title(group.path, around), group.bytes, is_titled))
            rect = rect.inset(SIDE, HEADER if is_titled else SIDE)
        items = _items(group, rect)
        for (item, size, kind), place in zip(items, squarified([n for _, n, _ in items], rect), strict=True):
            if isinstance(item, _Group):
                todo.append((item, place, group.path))
            else:
                cells.append(Cell(place, kind, size, item, group.path))
    return frames, cells


def _title(path: Path, around: Path) -> str:
    """The path inside the module around; an item of a list with the name of the list."""
    start = len(around) - (path[len(around)].isdecimal() and bool(around))
    return ".".join(path[start:])


def _tree(facts: Facts) -> _Group:
    """The modules that hold something; one that only holds another is drawn as that one."""
    groups: dict[Path, _Group] = {(): _Group(())}
    for h in facts.holdings:
        for k in range(len(h.path) + 1):
            groups.setdefault(h.path[:k], _Group(h.path[:k])).bytes += h.storage.bytes
        groups[h.path].own.append(h)
    for path, group in groups.items():
        if path:
            groups[path[:-1]].parts.append(group)
    for group in groups.values():
        group.parts = [_inner(part) for part in group.parts]
    return groups[()]


def _inner(group: _Group) -> _Group:
    while len(group.parts) == 1 and not group.own:
        group = group.parts[0]
    return group


Item = tuple["_Group | Sequence[Holding]", int, str]


def _items(group: _Group, rect: Rect) -> list[Item]:
    """What is drawn in a rectangle, the largest first."""
    pixels = rect.area / group.bytes if group.bytes else 0.0
    if group.path and rect.area < CLOSED:
        found = list(_by_kind(_all(group)))
    else:
        large = [h for h in group.own if h.storage.bytes * pixels >= TINY]
        small = [h for h in group.own if h.storage.bytes * pixels < TINY]
        found = [([h], h.storage.bytes, h.storage.kind) for h in large]
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
