"""The picture of a memory: a treemap of what is held, and the curve of the backward pass below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import words
from ...answers.sentences.text import size_text
from ...graph.storages import ACTIVATION, INPUT, PARAMETER
from ..layout.measure import ADVANCE, columns
from ..maps.ink import SMALL, Ink, shortened
from ..render.caption import caption_elements, caption_height, caption_lines
from ..render.escape import element, text
from ..render.svg import FALLBACK
from ..render.theme import Theme
from .draw_curve import curve_drawn
from .report import Report
from .tree import Cell, Frame, placed
from .treemap import Rect

WIDTH, MARGIN, TOP = 960.0, 24.0, 66.0  # px
MAP, GAP, CURVE, SPANS = 290.0, 56.0, 110.0, 26.0  # px: heights of the treemap, between, of the curve, under it
COLOURS = {PARAMETER: "green", INPUT: "yellow", ACTIVATION: "brown"}
ADVICES = 3
LEAST = 0.75  # px of a cell's side


def painted(report: Report, theme: Theme) -> str:
    """The picture as SVG."""
    ink = Ink(theme)
    room = Rect(MARGIN, TOP, WIDTH - 2 * MARGIN, MAP if report.facts.holdings else 0.0)
    below = Rect(MARGIN, room.y + room.h + GAP, room.w, CURVE)
    drawn = [*_heading(report, ink), *_treemap(report, ink, room), *curve_drawn(report, ink, below)]
    height = below.y + below.h + SPANS
    for said in [*report.advice(ADVICES), words.MEMORY_COUNTS]:
        lines = caption_lines(said, WIDTH - 2 * MARGIN)
        drawn += caption_elements(lines, MARGIN - 12, height, theme)
        height += caption_height(lines) - 12
    height += 16
    title = element("title", text(str(report)))
    ground = element("rect", width=WIDTH, height=height, **ink.fill("canvas"))
    return element(
        "svg", "\n".join([title, ground, *drawn]), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH:g} {height:g}",
        width=WIDTH, height=height, font_family=FALLBACK, role="img",
    )  # fmt: skip


def _heading(report: Report, ink: Ink) -> Iterator[str]:
    yield ink.text(MARGIN, 28, report.held(), size=17, bold=True)
    x = MARGIN
    for kind, said in report.kinds():
        yield element("rect", x=x, y=42, width=11, height=11, **_look(ink, COLOURS[kind]))
        yield ink.text(x + 17, 52, said, size=12)
        x += 17 + columns(said) * ADVANCE * 12 + 24
    if report.facts.is_guessed:
        yield ink.text(x, 52, words.MEMORY_GUESSED, role="none", size=12)


def _look(ink: Ink, role: str) -> dict[str, Any]:
    return {**ink.fill(role), "stroke": ink.stroke(role)["stroke"], "stroke_width": 1}


def _treemap(report: Report, ink: Ink, room: Rect) -> Iterator[str]:
    frames, cells = placed(report.facts, room)
    for frame in frames:
        yield _frame(frame, report, ink)
    for cell in cells:
        if min(cell.rect.w, cell.rect.h) >= LEAST:
            yield _cell(cell, ink)


def _frame(frame: Frame, report: Report, ink: Ink) -> str:
    x, y, w, h = frame.rect
    kind, size = report.facts.module_of(frame.path), size_text(frame.bytes)
    box = element(
        "rect", x=x + 0.5, y=y + 0.5, width=max(0.0, w - 1), height=max(0.0, h - 1), rx=3, fill=ink.colour["none"],
        fill_opacity=0.08, stroke=ink.colour["row-stroke"], stroke_width=1,
    )  # fmt: skip
    said = element("title", text(" · ".join(filter(None, (".".join(frame.path), kind, size)))))
    if not frame.is_titled:
        return element("g", said + box)
    title = " ".join(filter(None, (frame.title, kind)))
    right = columns(size) * ADVANCE * SMALL
    has_size = w - 12 > right + 40
    name = ink.text(x + 5, y + 13, title, room=w - 10 - (right + 6 if has_size else 0), bold=True)
    return element("g", said + box + name + (ink.text(x + w - 5, y + 13, size, role="none", end=True) if has_size else ""))


def _cell(cell: Cell, ink: Ink) -> str:
    x, y, w, h = cell.rect
    box = element(
        "rect", x=x + 0.5, y=y + 0.5, width=max(0.5, w - 1), height=max(0.5, h - 1), **ink.fill(COLOURS[cell.kind]),
        stroke=ink.stroke(COLOURS[cell.kind])["stroke"], stroke_width=0.6,
    )  # fmt: skip
    lines = _said(cell)
    whole = element("title", text(" · ".join(lines)))
    shown = [
        ink.text(x + 5, y + 14 + 14 * i, said, room=w - 8, role="text")
        for i, said in enumerate(lines)
        if w >= 44 and h >= 18 + 14 * i
    ]
    return element("g", whole + box + "".join(shown))


def _said(cell: Cell) -> list[str]:
    """What a cell says: what lies in it, how much, and where it was saved."""
    size = size_text(cell.bytes)
    if len(cell.holdings) > 1:
        return [words.MEMORY_MORE.format(count=len(cell.holdings)), size]
    h = cell.holdings[0]
    first = h.storage.uses[0]
    name = h.label.rpartition(".")[2] if h.storage.kind == PARAMETER else h.label
    source = None if h.op is None else h.op.source
    line = [] if source is None else [words.MAP_LINE.format(line=source.line)]
    return [shortened(name, 40), f"{size} {first.shape}", *line]
