"""The picture of a memory: a treemap of what is held, and the curve of the backward pass below."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ... import words
from ...answers.sentences.text import size_text
from ...graph.storages import ACTIVATION, INPUT, PARAMETER
from ..layout.measure import text_width
from ..maps.ink import SMALL, Ink, shortened
from ..render.caption import caption_elements, caption_height, caption_lines
from ..render.escape import element, text
from ..render.svg import whole_picture
from ..render.theme import Theme
from .budget import Plan
from .curve import Moment
from .report import Report
from .tree import Cell, Frame, Rect, placed

WIDTH, MARGIN, TOP = 960.0, 24.0, 66.0  # px
MAP, GAP, CURVE, SPANS = 290.0, 56.0, 110.0, 26.0  # px: heights of the treemap, between, of the curve, under it
PLAN_ROW = 18.0  # px more for the legend of a plan
COLOURS = {PARAMETER: "green", INPUT: "yellow", ACTIVATION: "brown", "optimizer": "blue"}
ADVICES = 3
LEAST = 0.75  # px of a cell's side
AXIS = 64.0  # px for the numbers beside the curve
MOST_TICKS = 4


def curve_drawn(report: Report, ink: Ink, room: Rect) -> Iterator[str]:
    """Heading, axes, the stacked areas, the peak, and which module runs when."""
    if report.peak is None or not report.peak.bytes:
        return
    plot = Rect(room.x + AXIS, room.y, room.w - AXIS, room.h)
    highest = report.total
    yield from _legend(report, ink, room)
    yield from _ticks(highest, ink, plot)
    moments = _thinned(report.curve, int(plot.w), lambda m: m.bytes)
    base = [0.0] * len(moments)
    for role, _, layer in _layers(report.stays, moments):
        top = [low + high for low, high in zip(base, layer, strict=True)]
        yield _area(base, top, highest, plot, ink, role)
        base = top
    yield from _planned(report, ink, plot)
    yield element("path", d=f"M{plot.x:g} {plot.y + plot.h:g}h{plot.w:g}", stroke=ink.colour["none"], stroke_width=1)
    yield from _peak(report, report.peak, ink, plot)
    yield from _spans(report, ink, plot)


def _thinned(values: Sequence[Any], most: int, height: Callable[[Any], int]) -> Sequence[Any]:
    """The highest of each column of pixels."""
    if len(values) <= most:
        return values
    ends = [len(values) * i // most for i in range(most + 1)]
    return [max(values[a:b], key=height) for a, b in itertools.pairwise(ends)]


def _layers(stays: Mapping[str, int], moments: Sequence[Moment]) -> list[tuple[str, str, list[int]]]:
    """From the bottom up: colour, name, heights."""
    names = {PARAMETER: words.MEMORY_PARAMETER, INPUT: words.MEMORY_INPUT, "optimizer": words.MEMORY_STATE}
    return [
        *((COLOURS[kind], name, [stays[kind]] * len(moments)) for kind, name in names.items()),
        ("brown", words.MEMORY_SAVED, [m.saved for m in moments]),
        ("grad", words.MEMORY_GRADIENTS, [m.gradients for m in moments]),
        ("true", words.MEMORY_GRADS, [m.grads + stays["grads"] for m in moments]),
    ]


def _planned(report: Report, ink: Ink, plot: Rect) -> Iterator[str]:
    """The budget as a line, and the outline of the curve with the checkpoints of the plan."""
    plan = report.plan
    if plan is None:
        return
    if plan.paths:
        heights = _thinned([plan.stays + h for h in plan.heights], int(plot.w), int)
        step = plot.w / len(heights)
        at = [(plot.x + i * step, plot.y + plot.h * (1 - h / report.total)) for i, h in enumerate(heights)]
        points = "L".join(f"{x + side:.1f} {y:.1f}" for x, y in at for side in (0, step))
        yield element("path", d=f"M{points}", fill="none", stroke=ink.colour["text"], stroke_width=1.5)
    if plan.budget <= report.total:
        y = plot.y + plot.h * (1 - plan.budget / report.total)
        yield element("path", d=f"M{plot.x:g} {y:.1f}h{plot.w:g}", **_dashed(ink))


def _dashed(ink: Ink) -> dict[str, Any]:
    return {"stroke": ink.colour["false"], "stroke_width": 1.5, "stroke_dasharray": "6 4"}


def _plan_legend(plan: Plan, ink: Ink, x: float, y: float) -> Iterator[str]:
    said = words.MEMORY_BUDGET.format(size=size_text(plan.budget))
    yield element("path", d=f"M{x:g} {y - 4:g}h22", **_dashed(ink))
    yield ink.text(x + 28, y, said)
    if plan.paths:
        x += 28 + text_width(said, SMALL) + 20
        yield element("path", d=f"M{x:g} {y - 4:g}h22", stroke=ink.colour["text"], stroke_width=1.5)
        yield ink.text(x + 28, y, words.MEMORY_PLANNED.format(size=size_text(plan.peak)))


def _legend(report: Report, ink: Ink, room: Rect) -> Iterator[str]:
    y = room.y - 26 - (PLAN_ROW if report.plan is not None else 0.0)
    heading = words.MEMORY_CURVE.format(count=len(report.curve))
    yield ink.text(room.x, y, heading, size=13, bold=True)
    start = x = room.x + text_width(heading, 13) + 24
    for role, name, heights in _layers(report.stays, report.curve):
        if max(heights) > report.total / CURVE / 4:
            yield element("rect", x=x, y=y - 9, width=10, height=10, **ink.fill(role), stroke=ink.stroke(role)["stroke"])
            yield ink.text(x + 15, y, name)
            x += 15 + text_width(name, SMALL) + 20
    if report.plan is not None:
        yield from _plan_legend(report.plan, ink, start, y + PLAN_ROW)


def _ticks(highest: int, ink: Ink, plot: Rect) -> Iterator[str]:
    power = 10.0 ** math.floor(math.log10(highest / MOST_TICKS))
    pitch = next((m * power for m in (1, 2, 2.5, 5) if m * power * MOST_TICKS >= highest), 10 * power)
    for n in range(MOST_TICKS + 1):
        size = n * pitch
        if size <= highest:
            y = plot.y + plot.h * (1 - size / highest)
            yield element("path", d=f"M{plot.x:g} {y:g}h{plot.w:g}", stroke=ink.colour["row-stroke"], stroke_width=0.5)
            yield ink.text(plot.x - 8, y + 4, size_text(int(size)), role="none", end=True)


def _area(base: Sequence[float], top: Sequence[float], highest: float, plot: Rect, ink: Ink, role: str) -> str:
    step = plot.w / len(top)

    def way(heights: Sequence[float]) -> list[tuple[float, float]]:
        at = [plot.y + plot.h * (1 - h / highest) for h in heights]
        return [(plot.x + (i + side) * step, y) for i, y in enumerate(at) for side in (0, 1)]

    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*way(top), *reversed(way(base))])
    return element("path", d=f"M{points}Z", **ink.fill(role))


def _peak(report: Report, peak: Moment, ink: Ink, plot: Rect) -> Iterator[str]:
    """A mark over the highest call, and its words."""
    x = plot.x + (report.curve.index(peak) + 0.5) * plot.w / len(report.curve)
    said, end = ", ".join(filter(None, (report.at_peak(), report.in_all()))), plot.x + plot.w
    width = text_width(said, SMALL)
    is_left = x + width + 10 > end
    yield element("path", d=f"M{x - 4:.1f} {plot.y - 9:g}h8l-4 7z", fill=ink.colour["text"])
    if is_left and x - 9 - width < MARGIN:  # there is no room beside the mark
        yield ink.text(max(MARGIN, min(x - width / 2, end - width)), plot.y - 13, said, room=end - MARGIN)
    else:
        yield ink.text(x - 9 if is_left else x + 9, plot.y - 3, said, end=is_left)


def _spans(report: Report, ink: Ink, plot: Rect) -> Iterator[str]:
    """Which module runs when, under the axis."""
    step, y = plot.w / len(report.curve), plot.y + plot.h
    for name, first, count in _runs(report, step):
        x, width = plot.x + first * step, count * step
        yield element("path", d=f"M{x:.1f} {y:g}v6", stroke=ink.colour["none"], stroke_width=1)
        if _fits(name, width):
            yield ink.text(x + 4, y + 14, name, role="none")


def _runs(report: Report, step: float) -> list[tuple[str, int, int]]:
    """Runs of calls in one module: name, first call, how many. The modules are those of the level with most room for names."""
    paths, levels = _paths(report), []
    for depth in range(1, max(map(len, paths), default=0) + 1):
        groups = [(name, list(g)) for name, g in itertools.groupby(enumerate(paths), key=lambda item: item[1][:depth])]
        levels.append([(".".join(name), g[0][0], len(g)) for name, g in groups])
    return max(levels, key=lambda runs: sum(_fits(name, count * step) for name, _, count in runs), default=[])


def _fits(name: str, width: float) -> bool:
    return bool(name) and text_width(name, SMALL) <= width - 6


def _paths(report: Report) -> list[tuple[str, ...]]:
    """The module of each call; of an AccumulateGrad that of the call before it, which made its gradient ready."""
    found: list[tuple[str, ...]] = []
    for id in report.facts.calls:
        is_leaf = report.facts.nodes[id].variable is not None and found
        found.append(found[-1] if is_leaf else report.facts.paths[id])
    return found


def paint(report: Report, theme: Theme) -> str:
    """The picture as SVG."""
    ink = Ink(theme)
    room = Rect(MARGIN, TOP, WIDTH - 2 * MARGIN, MAP if report.facts.holdings else 0.0)
    below = Rect(MARGIN, room.y + room.h + GAP + (PLAN_ROW if report.plan is not None else 0.0), room.w, CURVE)
    frames, cells = placed(report.facts, room)
    drawn = [*_heading(report, ink), *(_frame(frame, report, ink) for frame in frames)]
    drawn += [_cell(cell, ink) for cell in cells if min(cell.rect.w, cell.rect.h) >= LEAST]
    drawn += curve_drawn(report, ink, below)
    height = below.y + below.h + SPANS
    advice = report.advice(ADVICES)
    for said in [*(["; ".join(advice)] if report.plan is not None else advice), *report.kept, words.MEMORY_COUNTS]:
        lines = caption_lines(said, WIDTH - 2 * MARGIN)
        drawn += caption_elements(lines, MARGIN - 12, height, theme)
        height += caption_height(lines) - 12
    height += 16
    title = element("title", text(str(report)))
    ground = element("rect", width=WIDTH, height=height, **ink.fill("canvas"))
    return whole_picture("\n".join([title, ground, *drawn]), WIDTH, height)


def _heading(report: Report, ink: Ink) -> Iterator[str]:
    yield ink.text(MARGIN, 28, report.held(), size=17, bold=True)
    x = MARGIN
    for kind, said in report.kinds():
        look = {**ink.fill(COLOURS[kind]), "stroke": ink.stroke(COLOURS[kind])["stroke"]}
        yield element("rect", x=x, y=42, width=11, height=11, **look, stroke_width=1)
        yield ink.text(x + 17, 52, said, size=12)
        x += 17 + text_width(said, 12) + 24
    if report.facts.is_guessed:
        yield ink.text(x, 52, words.MEMORY_GUESSED, role="none", size=12)


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
    right = text_width(size, SMALL)
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
    fits = int((h - 4) // 14) if w >= 44 else 0
    shown = [ink.text(x + 5, y + 14 + 14 * i, said, room=w - 8) for i, said in enumerate(lines[: max(0, fits)])]
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
    line = [] if source is None else [words.AT_LINE.format(line=source.line)]
    return [shortened(name, 40), f"{size} {first.shape}", *line]
