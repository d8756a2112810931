"""The numbers of a run of our own core: those of the current step, and complete steps until they are handed over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

NAMES = ("norm", "largest", "zeros", "update")
TOTALS = ("loss", "clip", "rate", "passes", "seconds")


class CoreNumbers:
    """What was measured. A number may be nan; what was not measured has no number.

    Args:
        order: the column of each row.
    """

    def __init__(self, order: Sequence[int]) -> None:
        self._order = order
        self._now = dict[tuple[str, int], float]()
        self._lines = list[dict[tuple[str, int], float]]()

    def put(self, name: str, column: int, value: Any) -> None:
        """A number of a statistic."""
        self._now[name, column] = float(value)

    def total(self, name: str, value: float) -> None:
        """A number of the whole step."""
        self.put("totals", TOTALS.index(name), value)

    def add(self, name: str, column: int, norm: float) -> None:
        """One more gradient of a column: the norm of all together."""
        self.put(name, column, np.hypot(self._now.get((name, column), 0.0), norm))

    def end(self) -> int:
        """The step is complete. Returns how many wait."""
        self._lines.append(self._now)
        self._now = {}
        return len(self._lines)

    def take(self) -> dict[str, tuple[Any, Any]]:
        """By statistic, the values of the steps that wait and whether they were measured; they wait no more."""
        blocks = dict[str, tuple[Any, Any]]()
        lines, self._lines = self._lines, []
        if not lines:
            return blocks
        for name, columns in {**dict.fromkeys(NAMES, self._order), "totals": range(len(TOTALS))}.items():
            given = [[line.get((name, column)) for column in columns] for line in lines]
            seen = np.array([[value is not None for value in line] for line in given], bool)
            blocks[name] = np.array([[value or 0.0 for value in line] for line in given], np.float32), seen
        return blocks


def norm_of(array: Any) -> float:
    """The Euclidean norm, in float64."""
    return float(np.sqrt(np.sum(np.square(np.abs(array), dtype=np.float64))))
