"""The picture of a run as SVG: loss above, a heat map of modules by steps, marks, a legend, what is odd."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from ... import words
from ..render import Theme
from ..render.escape import element, text
from .grid import Grid, Line, grid_of
from .history import History
from .odd import FEW, odd_in, sentences, size_said
from .plot import EDGE, RIGHT, SCALE, WIDTH, Scale, colour_of, cut, decades, picture_of, ticks, wide, wrapped, written

LOSS_HEIGHT = 78  # px
ROW, GAP = 15, 2  # px: of a row, between two
LEAST_LEFT, BESIDE, WIDEST = 80, 10, 24  # px: of all names, between a name and what is beside it, of a column


class Painter:
    """Draws a run: what is odd, the legend, the loss, and the rows with their names beside them."""

    def __init__(self, history: History, theme: Theme, name: str, class_name: str, stopped: str = "") -> None:
        self.history, self.colour, self.name, self.class_name = history, theme.colours(), name, class_name
        self.stopped, self.odd = stopped, odd_in(history)
        self.grid: Grid = grid_of(history, self.odd)
        self.low, self.high = decades(self.grid.norms)
        self.pitch = ROW + GAP if len(self.grid.lines) <= 40 else 11 + GAP
        blocks = groupby(self.grid.lines, lambda line: line.heading)
        self.blocks = [(cut(heading or class_name), list(lines)) for heading, lines in blocks]
        names = [wide(heading, 12) + BESIDE + self._labels(lines) for heading, lines in self.blocks]
        self.left = EDGE + max([LEAST_LEFT, *names]) + BESIDE
        self.room = min(RIGHT - self.left, WIDEST * len(self.grid.start))
        self.boxed, self.legend_top = self._said(46)
        self.loss_top = self.legend_top + 44
        self.top = self.loss_top + LOSS_HEIGHT + 20

    def svg(self) -> str:
        """The picture."""
        rows, bottom = self._rows()
        above = [*self._title(), *self.boxed, *self._legend(self.legend_top), *self._loss()]
        parts = [*above, *rows, *self._axis(bottom), *self._marks(bottom)]
        said = words.RUN_PICTURE.format(rows=len(self.grid.lines), steps=self.history.steps)
        return picture_of(said, parts, round(bottom + 30), self.colour["canvas"])

    def _labels(self, lines: list[Line]) -> float:
        """px of the widest label of a block."""
        return max(wide(cut(line.label), 11) for line in lines)

    def _write(
        self, x: float, y: float, said: str, size: float = 11, role: str = "text", anchor: str = "start", bold: bool = False
    ) -> str:
        return written(self.colour[role], x, y, said, size, text_anchor=anchor, font_weight="bold" if bold else None)

    def _title(self) -> Iterator[str]:
        count = self.history.steps
        said = size_said(self.class_name, count)
        at = next((mark.step for mark in reversed(self.history.marks) if mark.kind == "stopped"), count)
        said += f" · {words.RUN_STOPPED.format(step=at)}" if self.stopped else ""
        title = words.RUN_TITLE.format(name=self.name)
        yield self._write(EDGE, 30, title, 18, bold=True)
        yield self._write(36 + 11.5 * len(title), 30, said, 12, "none")

    def _x(self, column: float) -> float:
        return self.left + self.room * column / max(1, len(self.grid.start))

    def _column(self, step: int) -> int:
        return max(0, int(np.searchsorted(self.grid.start, step, side="right")) - 1)

    def _loss(self) -> Iterator[str]:
        loss = self.grid.loss
        band = () if self.history.ranks is None else self.history.ranks.losses_at(self.grid.start)
        scale = Scale.of(np.concatenate([loss, self.grid.probe, *band]))
        if scale is None:
            return
        bottom = self.loss_top + LOSS_HEIGHT
        yield from self._band(*map(scale.shares, band), bottom)
        points = [(self._x(c + 0.5), bottom - LOSS_HEIGHT * s) for c, s in enumerate(scale.shares(loss))]
        for isnan, run in groupby(points, lambda p: math.isnan(p[1])):
            if not isnan:
                (x, y), *others = run
                d = "L".join([f"M{x:.1f} {y:.1f}", *(f"{x:.1f} {y:.1f}" for x, y in others)])
                d = d if others else f"M{x - 1:.1f} {y:.1f}h2"  # one step alone is a dot
                yield element("path", d=d, fill="none", stroke=self.colour["brown-stroke"], stroke_width=1.8)
        for c, share in enumerate(scale.shares(self.grid.probe)):
            if math.isfinite(share):
                yield self._dot(self._x(c + 0.5), bottom - LOSS_HEIGHT * float(share))
        yield self._write(self.left - BESIDE, self.loss_top + 6, f"{scale.most:.3g}", role="none", anchor="end")
        if scale.least < scale.most:
            yield self._write(self.left - BESIDE, bottom + 2, f"{scale.least:.3g}", role="none", anchor="end")
        label = words.RUN_LOSS_LOG if scale.is_log else words.RUN_LOSS
        yield self._write(self.left - BESIDE, self.loss_top + LOSS_HEIGHT / 2 + 4, label, 12, "brown-stroke", "end")

    def _dot(self, x: float, y: float) -> str:
        """The loss of the probe batch."""
        look: dict[str, Any] = {"fill": self.colour["canvas"], "stroke": self.colour["blue-stroke"], "stroke_width": 1.8}
        return element("circle", cx=round(x, 1), cy=round(y, 1), r=3, **look)

    def _band(self, *band: Any) -> Iterator[str]:
        """Where the losses of the ranks of a job lie."""
        *ends, bottom = band
        for c, (least, most) in enumerate(zip(*ends, strict=True) if ends else ()):
            if math.isfinite(least):
                y, height = bottom - LOSS_HEIGHT * most, LOSS_HEIGHT * (most - least) + 1
                x, width = self._x(c), self._x(c + 1) - self._x(c)
                yield element(
                    "rect", x=round(x, 1), y=round(float(y), 1), width=round(width + 0.3, 1), height=round(float(height), 1),
                    fill=self.colour["brown-stroke"], fill_opacity=0.25,
                )  # fmt: skip

    def _rows(self) -> tuple[list[str], float]:
        """The cells by colour, the names beside them, and where they end."""
        parts, paths, y, k = list[str](), dict[str, list[str]](), float(self.top), 0
        for heading, lines in self.blocks:
            y += 8 if k else 0
            middle = y + (self.pitch - GAP) / 2 + 4
            end = self.left - 2 * BESIDE - self._labels(lines)
            parts.append(self._write(end, middle, heading, 12, anchor="end", bold=True))
            for line in lines:
                role = "grad" if line.is_odd else "text"
                parts.append(self._write(self.left - BESIDE, middle, cut(line.label), 11, role, "end"))
                for first, last, fill in self._runs(k):
                    x, right = self._x(first), self._x(last)
                    paths.setdefault(fill, []).append(f"M{x:.1f} {y:.1f}h{right - x:.1f}v{self.pitch - GAP}H{x:.1f}z")
                if not self.grid.reached[k]:
                    parts.append(self._dashes(self.left, middle - 4, self.room))
                y, middle, k = y + self.pitch, middle + self.pitch, k + 1
        cells = [element("path", d="".join(d), fill=fill) for fill, d in paths.items()]
        return [*cells, *parts], y

    def _dashes(self, x: float, y: float, width: float) -> str:
        """In place of the cells of a row that no gradient has reached."""
        line: dict[str, Any] = {"stroke": self.colour["none"], "stroke_dasharray": "5 4", "stroke_width": 1.5, "fill": "none"}
        return element("path", d=f"M{x:.1f} {y:.1f}h{width:.1f}", **line)

    def _runs(self, k: int) -> Iterator[tuple[int, int, str]]:
        """Neighbouring cells of one colour: first column, the one after the last, colour."""
        fills = [self._fill(n, b) for n, b in zip(self.grid.norms[k], self.grid.bad[k], strict=True)]
        at = 0
        for fill, same in groupby(fills):
            count = len(list(same))
            if fill:
                yield at, at + count, fill
            at += count

    def _fill(self, norm: float, bad: bool) -> str:
        if bad:
            return self.colour["grad"]
        if math.isnan(norm):
            return ""
        return SCALE[colour_of(norm, self.low, self.high)] if norm > 0 else self.colour["row-stroke"]

    def _axis(self, bottom: float) -> Iterator[str]:
        for step in ticks(self.history.steps):
            yield self._write(self._x(self._column(step)), bottom + 16, f"{step:,}", role="none", anchor="middle")
        yield self._write(self.left - BESIDE, bottom + 16, words.RUN_STEP, role="none", anchor="end")

    def _marks(self, bottom: float) -> Iterator[str]:
        for mark in [m for m in self.history.marks if m.kind == "rate"][:4]:
            x = self._x(self._column(mark.step))
            d, colour = f"M{x:.1f} {self.loss_top - 8:.1f}V{bottom:.1f}", self.colour["text"]
            yield element("path", d=d, stroke=colour, stroke_dasharray="3 3", stroke_width=1, fill="none")
            said = words.RUN_RATE.format(text=mark.text)
            side, anchor = (-4, "end") if x - wide(said, 11) > self.left else (4, "start")
            yield self._write(x + side, self.loss_top - 6, said, anchor=anchor)
        skipped = {m.step for m in self.history.marks if m.kind == "skipped"}
        for step in sorted(skipped)[-200:]:
            x = round(self._x(self._column(step) + 0.5), 1)
            said = element("title", text(f"{words.RUN_SKIPPED}: {step}"))
            yield element("circle", said, cx=x, cy=bottom + 5, r=2, fill=self.colour["text"])

    def _legend(self, y: float) -> Iterator[str]:
        """What the colours mean, and of the marks those that are there."""
        x = float(EDGE)
        for said, after in ((words.RUN_GRADIENT, 14.0), (f"1e{self.low}", 6.0)):
            yield self._write(x, y + 10, said, role="none")
            x += wide(said, 11) + after
        width = 180 / len(SCALE)
        for i, fill in enumerate(SCALE):
            yield element("rect", x=round(x + i * width, 1), y=y, width=round(width + 0.3, 1), height=12, fill=fill)
        x += 186
        yield self._write(x, y + 10, f"1e{self.high}", role="none")
        x += 46
        for fill, stroke, said in self._met():
            look: dict[str, Any] = {"fill": fill, "stroke": stroke, "height": 11}
            yield element("rect", x=round(x, 1), y=y + 0.5, width=16, **look) if stroke else self._dashes(x, y + 6, 18)
            yield self._write(x + 24, y + 10, said)
            x += wide(said, 11) + 42
        if np.isfinite(self.grid.probe).any():
            yield self._dot(x + 8, y + 6)
            yield self._write(x + 18, y + 10, words.RUN_PROBE)

    def _met(self) -> Iterator[tuple[str, str, str]]:
        """What is seen beside the scale: fill and edge of its box, no edge for a line of dashes; and what it means."""
        grid, bad, zero = self.grid, self.colour["grad"], self.colour["row-stroke"]
        if grid.bad.any():
            yield bad, bad, words.RUN_NOT_FINITE
        if (grid.norms == 0).any():
            yield zero, zero, words.RUN_ALL_ZERO
        if not grid.reached.all():
            yield "none", "", words.RUN_UNREACHED
        if grid.has_gaps:
            yield "none", zero, words.RUN_NOT_MEASURED

    def _said(self, y: float) -> tuple[list[str], float]:
        """The box with sentences, and where it ends. In the first steps nothing can be odd, nor fine."""
        said = [s for s in self.stopped.split("\n") if s] + [s for _, s in sentences(self.history, self.odd)]
        if not said and self.history.steps < FEW:
            return [], y
        lines = [line for sentence in said or [words.RUN_NOTHING_ODD] for line in wrapped(sentence, 118)]
        height = 14 + 18 * len(lines)
        box = element(
            "rect", x=EDGE, y=y, width=WIDTH - 2 * EDGE, height=height, rx=8, fill="none",
            stroke=self.colour["grad" if said else "row-stroke"],
        )  # fmt: skip
        return [box, *(self._write(34, y + 20 + 18 * i, line, 12) for i, line in enumerate(lines))], y + height + 16
