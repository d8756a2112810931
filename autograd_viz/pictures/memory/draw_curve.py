"""The curve of a backward pass as stacked steps: what each call finds and makes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ... import words
from ...answers.sentences.text import size_text
from ..layout.measure import ADVANCE, columns
from ..maps.ink import SMALL, Ink
from ..render.escape import element
from .curve import Moment
from .report import Report
from .treemap import Rect

AXIS = 64.0  # px for the numbers beside the curve
MOST_TICKS = 4


def curve_drawn(report: Report, ink: Ink, room: Rect) -> Iterator[str]:
    """Heading, axes, the stacked areas, the peak, and which module runs when."""
    if report.peak is None or not report.peak.bytes:
        return
    plot = Rect(room.x + AXIS, room.y, room.w - AXIS, room.h)
    yield from _legend(report, ink, room)
    yield from _ticks(report.peak.bytes, ink, plot)
    moments = _columns(report.curve, int(plot.w))
    base = [0.0] * len(moments)
    for role, _, layer in _layers(moments):
        top = [low + high for low, high in zip(base, layer, strict=True)]
        yield _area(base, top, report.peak.bytes, plot, ink, role)
        base = top
    yield element("path", d=f"M{plot.x:g} {plot.y + plot.h:g}h{plot.w:g}", stroke=ink.colour["none"], stroke_width=1)
    yield from _peak(report, ink, plot)
    yield from _spans(report, ink, plot)


def _layers(moments: Sequence[Moment]) -> list[tuple[str, str, list[int]]]:
    """From the bottom up: colour, name, heights."""
    return [
        ("brown", words.MEMORY_SAVED, [m.saved for m in moments]),
        ("grad", words.MEMORY_GRADIENTS, [m.gradients for m in moments]),
        ("green", words.MEMORY_GRADS, [m.grads for m in moments]),
    ]


def _columns(curve: Sequence[Moment], most: int) -> Sequence[Moment]:
    """The moments; of very many, the highest of each column of pixels."""
    if len(curve) <= most:
        return curve
    ends = [len(curve) * i // most for i in range(most + 1)]
    return [max(curve[a:b], key=lambda m: m.bytes) for a, b in itertools.pairwise(ends)]


def _legend(report: Report, ink: Ink, room: Rect) -> Iterator[str]:
    y = room.y - 26
    heading = words.MEMORY_CURVE.format(count=len(report.curve))
    yield ink.text(room.x, y, heading, size=13, bold=True)
    x = room.x + columns(heading) * ADVANCE * 13 + 24
    for role, name, heights in _layers(report.curve):
        if any(heights):
            yield element("rect", x=x, y=y - 9, width=10, height=10, **ink.fill(role), stroke=ink.stroke(role)["stroke"])
            yield ink.text(x + 15, y, name)
            x += 15 + columns(name) * ADVANCE * SMALL + 20


def _ticks(highest: int, ink: Ink, plot: Rect) -> Iterator[str]:
    for n in range(MOST_TICKS + 1):
        size = n * _pitch(highest)
        if size <= highest:
            y = plot.y + plot.h * (1 - size / highest)
            yield element("path", d=f"M{plot.x:g} {y:g}h{plot.w:g}", stroke=ink.colour["row-stroke"], stroke_width=0.5)
            yield ink.text(plot.x - 8, y + 4, size_text(int(size)), role="none", end=True)


def _pitch(highest: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(highest / MOST_TICKS))
    return next((m * power for m in (1, 2, 2.5, 5) if m * power * MOST_TICKS >= highest), 10 * power)


def _area(base: Sequence[float], top: Sequence[float], highest: float, plot: Rect, ink: Ink, role: str) -> str:
    """The area between two curves of steps."""
    step = plot.w / len(top)

    def way(heights: Sequence[float]) -> list[tuple[float, float]]:
        at = [plot.y + plot.h * (1 - h / highest) for h in heights]
        return [(plot.x + (i + side) * step, y) for i, y in enumerate(at) for side in (0, 1)]

    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*way(top), *reversed(way(base))])
    return element("path", d=f"M{points}Z", **ink.fill(role))


def _peak(report: Report, ink: Ink, plot: Rect) -> Iterator[str]:
    """A mark over the highest call, and its words."""
    if report.peak is None:
        return
    i = report.curve.index(report.peak)
    x = plot.x + (i + 0.5) * plot.w / len(report.curve)
    said = report.at_peak()
    width = columns(said) * ADVANCE * SMALL
    is_left = x + width + 10 > plot.x + plot.w
    yield element("path", d=f"M{x - 4:.1f} {plot.y - 9:g}h8l-4 7z", fill=ink.colour["text"])
    yield ink.text(x - 9 if is_left else x + 9, plot.y - 3, said, end=is_left, room=plot.w)


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
    paths = _paths(report)
    levels = []
    for depth in range(1, max(map(len, paths), default=0) + 1):
        groups = [(name, list(g)) for name, g in itertools.groupby(enumerate(paths), key=lambda item: item[1][:depth])]
        levels.append([(".".join(name), g[0][0], len(g)) for name, g in groups])
    return max(levels, key=lambda runs: sum(_fits(name, count * step) for name, _, count in runs), default=[])


def _fits(name: str, width: float) -> bool:
    return bool(name) and columns(name) * ADVANCE * SMALL <= width - 6


def _paths(report: Report) -> list[tuple[str, ...]]:
    """The module of each call; of an AccumulateGrad that of the call before it, which made its gradient ready."""
    found: list[tuple[str, ...]] = []
    for id in report.facts.calls:
        is_leaf = report.facts.nodes[id].variable is not None and found
        found.append(found[-1] if is_leaf else report.facts.paths[id])
    return found
