"""What plots of runs share: scales, ticks, and letters in their room."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .rows import Numbers

LETTERS = 24  # of a name, at most


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
