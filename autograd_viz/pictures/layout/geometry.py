"""The finished layout: plain frozen values in px, y downwards. It is the same at every step of the backward pass."""

from __future__ import annotations

from dataclasses import dataclass

from .sizes import WAITE, Sizes

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A row inside a box: `data`, `grad`, …, `saved`, `next_functions`; y from the top of the picture."""

    key: str
    y: float
    h: float


@dataclass(frozen=True, slots=True)
class Box:
    """A box."""

    id: str  # the document's id; `ctx:<op id>` for the circle beside an op
    kind: str  # "tensor", "op", "ctx", "node" or "accumulate"
    x: float
    y: float
    w: float
    h: float
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow of horizontal and vertical pieces."""

    at: str  # its address (graph/trace.py, Note [Addresses]), or `in:<op>.<i>`, `out:<op>.<i>`, `save:<op>`, `saved:<op>`.
    kind: str  # "input", "result", "save", "saved", "grad_fn", "next", "grad" or "retain"
    net: tuple[str, ...]  # arrows of one net may run on top of each other
    source: str
    target: str  # source, target: ids of boxes
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """Room for a number on an arrow. `text` is set only if it is always shown: a caption, or a count of edges."""

    at: str
    x: float
    y: float
    w: float
    h: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the user's code, ending at x, with its baseline at y, in letters of `size` px."""

    text: str
    kind: str
    x: float
    y: float
    size: float


@dataclass(frozen=True, slots=True)
class Frame:
    """A line around the contents of an open group, or around a part of them."""

    id: str  # the group's
    title: str  # as much of its title as fits; it begins at x, with its baseline at y
    outline: tuple[Point, ...]  # the corners, clockwise from the top left one
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Geometry:
    """The whole picture; (x, y) is its top left corner. A frame comes after those around it."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    labels: tuple[Label, ...]
    code: tuple[CodeLine, ...]
    x: float
    y: float
    width: float
    height: float
    frames: tuple[Frame, ...] = ()
    sizes: Sizes = WAITE
