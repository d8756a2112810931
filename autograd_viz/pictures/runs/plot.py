"""What plots of runs share: scales, ticks, colours of norms, letters in their room, and the picture around them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..render.escape import element, text
from ..render.svg import FALLBACK
from .rows import Numbers

WIDTH, EDGE, RIGHT = 1000, 20, 970  # px
LETTERS = 24  # of a name, at most
# viridis (matplotlib, CC0) at eleven equal distances
SCALE = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip
LEAST, MOST = 3, 12  # decades


class Scale(NamedTuple):
    """Of a curve: its ends, and whether it is logarithmic, because it spans much."""

    least: float
    most: float
    is_log: bool

    @classmethod
    def of(cls, values: Numbers) -> Scale | None:
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


def wrapped(sentence: str, most: int) -> list[str]:
    """A sentence in lines that break between words."""
    lines = [""]
    for word in sentence.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def cut(said: str) -> str:
    """A name of some letters; the end of a path says more than its beginning."""
    return said if len(said) <= LETTERS else f"…{said[1 - LETTERS :]}"


def wide(said: str, size: float) -> float:
    """px that a text takes at a size of its letters."""
    return 0.602 * size * sum(2 if letter > "\u2e7f" else 1 for letter in said)


def ticks(steps: int) -> range:
    """Steps that are written: about five round numbers."""
    if not steps:
        return range(0)
    distance = max(1.0, steps / 5)
    power = 10 ** math.floor(math.log10(distance))
    return range(0, steps, int(next(f * power for f in (1, 2, 5, 10) if f * power >= distance)))


def written(colour: str, x: float, y: float, said: str, size: float, **look: Any) -> str:
    """A line of text."""
    return element("text", text(said), x=round(x, 1), y=round(y, 1), font_size=size, fill=colour, **look)


def picture_of(said: str, parts: Iterable[str], height: int, canvas: str) -> str:
    """The SVG of what is drawn; `said` is its title."""
    inner = element("title", text(said)) + element("rect", width=WIDTH, height=height, fill=canvas) + "".join(parts)
    size = {"width": WIDTH, "height": height, "viewBox": f"0 0 {WIDTH} {height}"}
    return element("svg", inner, xmlns="http://www.w3.org/2000/svg", font_family=FALLBACK, role="img", **size)


def decades(norms: Numbers) -> tuple[int, int]:
    """The ends of the scale as exponents of ten, so that almost all norms lie between them. A run that explodes is cut some
    decades above its usual norms: else these would all be one colour.
    """
    known = norms[np.isfinite(norms) & (norms > 0)]
    if not len(known):
        return -LEAST, 0
    low, high = np.floor(np.log10(np.percentile(known, 2))), np.ceil(np.log10(np.percentile(known, 99.5)))
    usual = max(float(np.median(row[row > 0])) for row in norms if (row > 0).any())
    high = min(high, np.ceil(math.log10(usual)) + LEAST)
    low = max(low, high - MOST)
    return int(min(low, high - LEAST)), int(high)


def colour_of(norm: float, low: int, high: int) -> int:
    """The place of a norm in `SCALE`."""
    share = (math.log10(norm) - low) / (high - low) if norm > 0 else 0.0
    return round(min(1.0, max(0.0, share)) * (len(SCALE) - 1))
