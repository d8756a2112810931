"""What was measured in some steps, until the host takes all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

BLOCK = 64  # steps
STATISTICS = ("norm", "largest", "zeros", "update")  # of each row
TOTALS = ("loss", "clip", "rate", "passes", "seconds")  # of a step


class Table:
    """Numbers of the current step and of complete steps that wait.

    Args:
        order: the column of each row.
        floats: makes floats of numbers, of which some are tensors on a device that no step waits for.
    """

    def __init__(self, order: Sequence[int], floats: Callable[[Sequence[Any]], Sequence[Any]] = list) -> None:
        self._row: list[int] = np.argsort(order).tolist()
        self._floats = floats
        self._parts = list[tuple[int, str, Sequence[int], Any]]()
        self._singles = dict[tuple[int, str, int], Any]()
        self._totals = list[Sequence[Any]]()

    def put(self, name: str, columns: Sequence[int], numbers: Any) -> None:
        """Numbers of a statistic in some columns: a list of floats, or one tensor."""
        self._parts.append((len(self._totals), name, columns, numbers))

    def put_one(self, name: str, column: int, number: Any) -> None:
        """A number of a statistic."""
        self._singles[len(self._totals), name, column] = number

    def one(self, name: str, column: int) -> Any:
        """What `put_one` was given in this step; None if nothing."""
        return self._singles.get((len(self._totals), name, column))

    def end(self, totals: Sequence[Any]) -> int:
        """The step is complete. Its `TOTALS`; None was not measured. Returns how many steps wait."""
        self._totals.append(totals)
        return len(self._totals)

    def take(self) -> tuple[Any, Any]:
        """The complete steps: values and whether they were measured. All rows of each statistic in turn, then the totals."""
        steps, first = len(self._totals), len(STATISTICS) * len(self._row)  # the first column of totals
        values, seen = np.zeros((steps, first + len(TOTALS)), np.float32), np.zeros((steps, first + len(TOTALS)), bool)
        with np.errstate(over="ignore"):
            for rows, columns, numbers in self._taken(steps):
                values[rows, columns] = np.array(self._floats(numbers), float).reshape(len(numbers), -1)
                seen[rows, columns] = True
            totals = [n for step in self._totals for n in step]
            values[:, first:] = np.array(self._floats(totals), float).reshape(steps, len(TOTALS))
            seen[:, first:] = np.array([n is not None for n in totals]).reshape(steps, len(TOTALS))
        self._parts = [(0, *part[1:]) for part in self._parts if part[0] == steps]
        self._singles = {(0, *cell[1:]): n for cell, n in self._singles.items() if cell[0] == steps}
        self._totals = []
        return values, seen

    def _taken(self, steps: int) -> Iterator[tuple[Any, Any, Sequence[Any]]]:
        """Rows, columns and numbers of the statistics."""
        parts = sorted((part for part in self._parts if part[0] < steps), key=itemgetter(1))
        for (name, columns), group in groupby(parts, itemgetter(1, 2)):
            ks, _, _, numbers = zip(*group, strict=True)
            yield np.array(ks)[:, None], [self._place(name, column) for column in columns], numbers
        cells = [cell for cell in self._singles if cell[0] < steps]
        if cells:
            at = np.array([(k, self._place(name, column)) for k, name, column in cells])
            yield at[:, :1], at[:, 1:], [self._singles[cell] for cell in cells]

    def _place(self, name: str, column: int) -> int:
        return STATISTICS.index(name) * len(self._row) + self._row[column]
