"""The picture of a run as SVG: loss above, a heat map of modules by steps, marks, a legend, what is odd."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ..render import Theme
from ..render.escape import element, text
from ..render.svg import FALLBACK
from .colours import SCALE, colour_of, decades
from .grid import Grid, grid_of
from .history import History
from .odd import odd_in, sentences, size_said
from .rows import Numbers

WIDTH, LEFT, RIGHT = 1000, 250, 970  # px
LOSS_TOP, LOSS_HEIGHT = 54, 78
ROW, GAP = 15, 2  # px: of a row, between two


class _Scale(NamedTuple):
    """Of a curve: its ends, and whether it is logarithmic, because it spans much."""

    least: float
    most: float
    is_log: bool

    @classmethod
    def of(cls, values: Numbers) -> _Scale | None:
        """The scale of some numbers; None if none is finite."""
        known = values[np.isfinite(values)]
        if not len(known):
            return None
        least, most = float(known.min()), float(known.max())
        return cls(least, most, least > 0 and most > 20 * least)

    def shares(self, values: Numbers) -> Numbers:
        """Where numbers stand between the ends: 0 to 1."""
        low, high = (math.log10(self.least), math.log10(self.most)) if self.is_log else (self.least, self.most)
        scaled = np.log10(values) if self.is_log else values
        return np.asarray((scaled - low) / (high - low) if high > low else np.full_like(scaled, 0.5), np.float32)


class Painter:
    """Draws a run.

    Args:
        history: its numbers.
        theme: colours.
        name: what the run is called in the title.
        class_name: the class of the model.
        stopped: the error that stopped it, or "".
    """

    def __init__(self, history: History, theme: Theme, name: str, class_name: str, stopped: str = "") -> None:
        self.history, self.colour, self.name, self.class_name = history, theme.colours(), name, class_name
        self.stopped, self.odd = stopped, odd_in(history)
        self.grid: Grid = grid_of(history, self.odd)
        self.low, self.high = decades(self.grid.norms)
        self.pitch = ROW + GAP if len(self.grid.lines) <= 40 else 11 if len(self.grid.lines) <= 60 else 8
        self.top = LOSS_TOP + LOSS_HEIGHT + 24

    def svg(self) -> str:
        """The picture."""
        rows, bottom = self._rows()
        below = bottom + 46
        boxed, height = self._said(below + 34)
        parts = [
            element("rect", width=WIDTH, height=height, fill=self.colour["canvas"]),
            *self._title(), *self._loss(), *rows, *self._axis(bottom), *self._marks(bottom), *self._legend(below), *boxed,
        ]  # fmt: skip
        said = words.RUN_PICTURE.format(rows=len(self.grid.lines), steps=self.history.steps)
        size = {"width": WIDTH, "height": height, "viewBox": f"0 0 {WIDTH} {height}"}
        return element(
            "svg",
            element("title", text(said)) + "".join(parts),
            xmlns="http://www.w3.org/2000/svg",
            font_family=FALLBACK,
            role="img",
            **size,
        )

    def _write(
        self, x: float, y: float, said: str, size: float = 11, role: str = "text", anchor: str = "start", bold: bool = False
    ) -> str:
        weight = {"font_weight": "bold"} if bold else {}
        return element(
            "text",
            text(said),
            x=round(x, 1),
            y=round(y, 1),
            font_size=size,
            fill=self.colour[role],
            text_anchor=anchor,
            **weight,
        )

    def _title(self) -> Iterator[str]:
        count = self.history.steps
        said = size_said(self.class_name, count)
        said += f" · {words.RUN_STOPPED.format(step=count)}" if self.stopped else ""
        title = words.RUN_TITLE.format(name=self.name)
        yield self._write(20, 30, title, 18, bold=True)
        yield self._write(36 + 11.5 * len(title), 30, said, 12, "none")

    # -- loss ---------------------------------------------------------------------------------------------------------

    def _x(self, column: float) -> float:
        return LEFT + (RIGHT - LEFT) * column / max(1, len(self.grid.start))

    def _column(self, step: int) -> int:
        return max(0, int(np.searchsorted(self.grid.start, step, side="right")) - 1)

    def _loss(self) -> Iterator[str]:
        loss = self.grid.loss
        band = () if self.history.ranks is None else self.history.ranks.losses_at(self.grid.start)
        scale = _Scale.of(np.concatenate([loss, *band]))
        if scale is None:
            return
        bottom = LOSS_TOP + LOSS_HEIGHT
        yield from self._band(*map(scale.shares, band), bottom)
        points = [(self._x(c + 0.5), bottom - LOSS_HEIGHT * s) for c, s in enumerate(scale.shares(loss))]
        for isnan, run in groupby(points, lambda p: math.isnan(p[1])):
            if not isnan:
                d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in run)
                yield element("path", d=d, fill="none", stroke=self.colour["brown-stroke"], stroke_width=1.8)
        yield self._write(LEFT - 10, LOSS_TOP + 6, f"{scale.most:.3g}", role="none", anchor="end")
        yield self._write(LEFT - 10, bottom + 2, f"{scale.least:.3g}", role="none", anchor="end")
        label = words.RUN_LOSS_LOG if scale.is_log else words.RUN_LOSS
        yield self._write(LEFT - 10, LOSS_TOP + LOSS_HEIGHT / 2 + 4, label, 12, "brown-stroke", "end")

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

    # -- the heat map -------------------------------------------------------------------------------------------------

    def _rows(self) -> tuple[list[str], float]:
        """The cells by colour, the labels, and where they end."""
        parts, paths, y, heading = list[str](), dict[str, list[str]](), float(self.top), None
        for k, line in enumerate(self.grid.lines):
            if line.heading != heading:
                y += 8 if heading is not None and self.pitch > 8 else 0
                heading = line.heading
                parts.append(self._write(20, y + self.pitch - 5, _cut(heading or self.class_name, 26), 12, bold=True))
            if self.pitch > 8:
                parts.append(
                    self._write(LEFT - 10, y + self.pitch - 5, _cut(line.label, 24), min(11, self.pitch - 1), anchor="end")
                )
            for first, last, fill in self._runs(k):
                x, end = self._x(first), self._x(last)
                paths.setdefault(fill, []).append(f"M{x:.1f} {y:.1f}h{end - x:.1f}v{self.pitch - GAP}H{x:.1f}z")
            y += self.pitch
        cells = [element("path", d="".join(d), fill=fill) for fill, d in paths.items()]
        return [*cells, *parts], y

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
        for step in _ticks(self.history.steps):
            yield self._write(self._x(self._column(step)), bottom + 16, f"{step:,}", role="none", anchor="middle")
        yield self._write(WIDTH - 4, bottom + 16, words.RUN_STEP, role="none", anchor="end")

    def _marks(self, bottom: float) -> Iterator[str]:
        for mark in [m for m in self.history.marks if m.kind == "rate"][:4]:
            x = self._x(self._column(mark.step))
            yield element(
                "path",
                d=f"M{x:.1f} 44V{bottom:.1f}",
                stroke=self.colour["text"],
                stroke_dasharray="3 3",
                stroke_width=1,
                fill="none",
            )
            yield self._write(x - 4, 46, words.RUN_RATE.format(text=mark.text), anchor="end")
        skipped = {m.step for m in self.history.marks if m.kind == "skipped"}
        for step in sorted(skipped)[-200:]:
            x = round(self._x(self._column(step) + 0.5), 1)
            said = element("title", text(f"{words.RUN_SKIPPED}: {step}"))
            yield element("circle", said, cx=x, cy=bottom + 5, r=2, fill=self.colour["text"])

    def _legend(self, y: float) -> Iterator[str]:
        yield self._write(LEFT - 10, y + 10, words.RUN_GRADIENT, role="none", anchor="end")
        width = 240 / len(SCALE)
        for i, fill in enumerate(SCALE):
            yield element("rect", x=round(LEFT + i * width, 1), y=y, width=round(width + 0.3, 1), height=12, fill=fill)
        for place, exponent in ((0, self.low), (240, self.high)):
            yield self._write(LEFT + place, y + 26, f"1e{exponent}", role="none", anchor="middle")
        for x, fill, said in ((560, "grad", words.RUN_NOT_FINITE), (670, "row-stroke", words.RUN_ALL_ZERO)):
            yield element("rect", x=x, y=y, width=16, height=12, fill=self.colour[fill])
            yield self._write(x + 24, y + 10, said)

    # -- what is odd --------------------------------------------------------------------------------------------------

    def _said(self, y: float) -> tuple[list[str], float]:
        """The box with sentences, and the height of the picture."""
        said = [s for s in self.stopped.split("\n") if s] + [s for _, s in sentences(self.history, self.odd)]
        said = said or [words.RUN_NOTHING_ODD]
        wrapped = [line for sentence in said for line in _wrapped(sentence, 118)]
        height = 22 + 18 * len(wrapped)
        box = element(
            "rect", x=20, y=y, width=WIDTH - 40, height=height, rx=8, fill="none",
            stroke=self.colour["grad" if self.stopped or self.odd else "row-stroke"],
        )  # fmt: skip
        return [box, *(self._write(34, y + 24 + 18 * i, line, 12) for i, line in enumerate(wrapped))], y + height + 20


def _wrapped(sentence: str, most: int) -> list[str]:
    """A sentence in lines that break between words."""
    lines = [""]
    for word in sentence.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _cut(said: str, most: int) -> str:
    return said if len(said) <= most else f"{said[: most - 1]}…"


def _ticks(steps: int) -> range:
    """Steps that are written: about five round numbers."""
    if not steps:
        return range(0)
    distance = max(1.0, steps / 5)
    power = 10 ** math.floor(math.log10(distance))
    return range(0, steps, int(next(f * power for f in (1, 2, 5, 10) if f * power >= distance)))
