"""The picture of two runs as SVG: the answer, the losses over each other, and the gradients of some parameters likewise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ... import words
from ..render import Theme
from ..render.escape import element
from .apart import GRADIENT, LOSS, PROBE, Apart, Column, Place
from .plot import EDGE, RIGHT, WIDTH, Scale, cut, picture_of, ticks, wide, wrapped, written

TALL, LOW, GAP = 120, 64, 26  # px: of the loss, of another curve, between two
MOST = 5  # curves besides the loss
ROLES = "brown-stroke", "blue-stroke"
DASHES = None, "6 3"  # told apart without colours too


def chosen(apart: Apart, first: Place | None) -> list[Column]:
    """The losses; the gradient that parts first, then those that are furthest apart at the end."""
    gradients = [c for c in apart.columns if c.kind == GRADIENT and not np.isnan(c.gap).all()]

    def rank(c: Column) -> tuple[bool, float]:
        known = c.gap[~np.isnan(c.gap)]
        return first is None or c.path != first.path, -float(known[-1])

    losses = [c for c in apart.columns if c.kind in (LOSS, PROBE)]
    return [*losses, *sorted(gradients, key=rank)[:MOST]]


class Overlay:
    """Draws two runs over each other."""

    def __init__(
        self, apart: Apart, first: Place | None, titles: tuple[str, str], sentences: Sequence[str], theme: Theme
    ) -> None:
        self.apart, self.first, self.titles, self.colour = apart, first, titles, theme.colours()
        self.curves = chosen(apart, first)
        self.said = [line for sentence in sentences for line in wrapped(sentence, 118)]
        names = [wide(self._name(c), 12) for c in self.curves]
        self.left = EDGE + max([80.0, *names]) + 10

    def _name(self, c: Column) -> str:
        return cut(c.path or (words.RUN_LOSS if c.kind == LOSS else words.RUNS_PROBE_NAME))

    def svg(self) -> str:
        """The picture."""
        legend = 46 + 14 + 18 * len(self.said) + 16
        first = next((c for c in self.curves if c.kind == GRADIENT), None)
        parts, y = [*self._head(), *self._legend(legend)], legend + 34.0
        top = y
        for c in self.curves:
            height = LOW if c.kind == GRADIENT else TALL
            if c is first:
                parts.append(self._write(self.left + 4, y - 8, words.RUN_GRADIENT, role="none"))
            parts += self._curve(c, y, height)
            y += height + GAP
        parts += [*self._axis(y - GAP), *self._parting(top - 8, y - GAP)]
        said = words.RUNS_PICTURE.format(steps=len(self.apart.steps))
        return picture_of(said, parts, round(y + 10), self.colour["canvas"])

    def _write(self, x: float, y: float, said: str, size: float = 11, role: str = "text", **look: Any) -> str:
        return written(self.colour[role], x, y, said, size, **look)

    def _head(self) -> Iterator[str]:
        yield self._write(EDGE, 30, words.DIFF_TITLE.format(a=self.titles[0], b=self.titles[1]), 18, font_weight="bold")
        stroke = self.colour["grad" if self.first else "row-stroke"]
        size: dict[str, Any] = {"width": WIDTH - 2 * EDGE, "height": 14 + 18 * len(self.said)}
        yield element("rect", x=EDGE, y=46, rx=8, fill="none", stroke=stroke, **size)
        yield from (self._write(34, 66 + 18 * k, line, 12) for k, line in enumerate(self.said))

    def _legend(self, y: float) -> Iterator[str]:
        x = self.left
        for title, role, dash in zip(self.titles, ROLES, DASHES, strict=True):
            yield self._path(f"M{x:.1f} {y + 6:.1f}h34", role, dash)
            yield self._write(x + 42, y + 10, title, 12)
            x += 42 + wide(title, 12) + 30

    def _path(self, d: str, role: str, dash: str | None, width: float = 1.8) -> str:
        dashes = {"stroke_dasharray": dash} if dash else {}
        return element("path", d=d, fill="none", stroke=self.colour[role], stroke_width=width, **dashes)

    def _x(self, step: float) -> float:
        last = max(1, int(self.apart.steps[-1])) if len(self.apart.steps) else 1
        return self.left + (RIGHT - self.left) * step / last

    def _curve(self, c: Column, y: float, height: float) -> Iterator[str]:
        scale, end = Scale.of(np.concatenate([c.a, c.b])), dict[str, Any](text_anchor="end")
        yield self._write(self.left - 10, y + height / 2 + 4, self._name(c), 12, **end)
        if scale is None:
            return
        yield self._write(self.left - 10, y + 6, f"{scale.most:.3g}", role="none", **end)
        yield self._write(self.left - 10, y + height + 2, f"{scale.least:.3g}", role="none", **end)
        for values, role, dash in zip((c.a, c.b), ROLES, DASHES, strict=True):
            points = [
                (self._x(int(step)), y + height * (1 - share))
                for step, share in zip(self.apart.steps, scale.shares(values).tolist(), strict=True)
                if c.kind != PROBE or np.isfinite(share)
            ]
            for is_known, run in groupby(points, lambda p: bool(np.isfinite(p[1]))):
                (x, at), *others = run
                if is_known:
                    rest = "".join(f"L{x:.1f} {at:.1f}" for x, at in others) or "h2"  # one step alone is a dot
                    yield self._path(f"M{x:.1f} {at:.1f}{rest}", role, dash)

    def _axis(self, bottom: float) -> Iterator[str]:
        for step in ticks(int(self.apart.steps[-1]) + 1 if len(self.apart.steps) else 0):
            yield self._write(self._x(step), bottom + 18, f"{step:,}", role="none", text_anchor="middle")
        yield self._write(self.left - 10, bottom + 18, words.RUN_STEP, role="none", text_anchor="end")

    def _parting(self, top: float, bottom: float) -> Iterator[str]:
        if self.first is not None:
            yield self._path(f"M{self._x(self.first.step):.1f} {top:.1f}V{bottom:.1f}", "grad", "3 3", 1.2)
