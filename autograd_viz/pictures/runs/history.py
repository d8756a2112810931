"""The numbers of a run, in constant memory.

# Note [Old steps]
The last steps are kept whole. Older ones are joined into bins: minimum, maximum and mean of equally many steps. When there are
too many bins, neighbours are joined two by two. So any run takes the same memory, and its bins have the same width.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...graph.passes import STATISTICS, TOTALS
from .ranks import Ranks
from .rows import Numbers, Row

WHOLE = 512  # steps that are kept whole
BINS = 512  # of older steps, at most
NEVER = np.iinfo(np.int64).max


class Spans(NamedTuple):
    """Numbers over time, oldest first: one row for each span of steps."""

    start: NDArray[np.int64]  # the first step of each span; int64, shape (spans,)
    least: Numbers
    most: Numbers
    mean: Numbers  # least, most, mean: shape (spans, columns); nan where nothing finite was measured
    bad: NDArray[np.int64]  # how many measured numbers were nan or inf; shape (spans, columns)


class Series:
    """Numbers of each step in several columns; `count` steps. Nan stands for nan; what was not measured is masked."""

    def __init__(self, columns: int) -> None:
        self.count = 0
        self._first_bad = np.full(columns, NEVER)
        self._columns = columns
        self._recent = np.zeros((0, columns), np.float32)
        self._seen = np.zeros((0, columns), bool)
        self._new = list[tuple[Numbers, NDArray[np.bool_]]]()  # steps that are not among them yet
        self._width = 1  # steps in a bin
        self._bins = _bins(0, np.zeros((0, 1, columns), np.float32), np.zeros((0, 1, columns), bool))

    def add(self, values: Numbers, seen: NDArray[np.bool_]) -> None:
        """More steps: values and whether they were measured, shape (steps, columns)."""
        self._new.append((values, seen))
        self.count += len(values)
        if sum(len(values) for values, _ in self._new) >= WHOLE:
            self._join()

    def _join(self) -> None:
        """New steps are joined with the others, many at once: each time costs about as much as a step of a small model."""
        if not self._new:
            return
        values, seen = map(np.concatenate, zip((self._recent, self._seen), *self._new, strict=True))
        at, columns = np.nonzero(seen & ~np.isfinite(values))
        np.minimum.at(self._first_bad, columns, self.count - len(values) + at)
        self._recent, self._seen, self._new = values, seen, []
        while (count := min((len(self._recent) - WHOLE) // self._width, BINS - len(self._bins.start))) > 0:
            steps, shape = count * self._width, (count, self._width, self._columns)
            old, self._recent = self._recent[:steps].reshape(shape), self._recent[steps:]
            old_seen, self._seen = self._seen[:steps].reshape(shape), self._seen[steps:]
            first = self.count - len(self._recent) - steps
            self._bins = _in_line(self._bins, _bins(first, old, old_seen))
            if len(self._bins.start) == BINS:
                self._bins = _joined(Spans._make(p[::2] for p in self._bins), Spans._make(p[1::2] for p in self._bins))
                self._width *= 2

    def part(self, columns: slice) -> Series:
        """Some columns, as they are now."""
        self._join()
        part = copy(self)
        part._first_bad = self._first_bad[columns].copy()
        part._columns = len(part._first_bad)
        part._recent, part._seen = self._recent[:, columns], self._seen[:, columns]
        part._bins = Spans._make([self._bins.start, *(numbers[:, columns] for numbers in self._bins[1:])])
        return part

    @property
    def first_bad(self) -> NDArray[np.int64]:
        """The first step whose number was nan or inf, by column; `NEVER` if there is none."""
        self._join()
        return self._first_bad

    def spans(self) -> Spans:
        """Everything that is kept."""
        self._join()
        finite = np.where(self._seen & np.isfinite(self._recent), self._recent, np.nan).astype(np.float32)
        start = np.arange(self.count - len(finite), self.count)
        recent = Spans(start, finite, finite, finite, (self._seen & ~np.isfinite(self._recent)).astype(np.int64))
        return _in_line(self._bins, recent)

    def last(self, steps: int = 1) -> Numbers:
        """The last steps, shape (steps, columns); masked numbers are nan."""
        self._join()
        with np.errstate(invalid="ignore"):
            return np.where(self._seen[-steps:], self._recent[-steps:], np.nan).astype(np.float32)


def _bins(start: int, values: Numbers, seen: NDArray[np.bool_]) -> Spans:
    """Equally many steps each, shape (bins, steps, columns), from a step on."""
    good = np.isfinite(values)
    bad, good = (seen & ~good).sum(1), seen & good
    finite = np.where(good, values, np.float32(np.nan))
    count = good.sum(1)
    sums = np.where(good, values, np.float32(0)).sum(1, dtype=np.float64)
    mean = np.divide(sums, count, out=np.full(count.shape, np.nan), where=count > 0).astype(np.float32)
    first = start + values.shape[1] * np.arange(len(values))
    return Spans(first, np.fmin.reduce(finite, 1), np.fmax.reduce(finite, 1), mean, bad)


def _in_line(a: Spans, b: Spans) -> Spans:
    return Spans._make(np.concatenate([getattr(a, name), getattr(b, name)]) for name in Spans._fields)


def _joined(a: Spans, b: Spans) -> Spans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        mean = np.nanmean(np.stack([a.mean, b.mean]), 0)
    return Spans(a.start, np.fmin(a.least, b.least), np.fmax(a.most, b.most), mean, a.bad + b.bad)


class Mark(NamedTuple):
    """Something that happened at a step: "nan", "clipped", "skipped", "rate", "accumulated", "stopped", "error"."""

    step: int
    kind: str
    text: str


MOST_MARKS = 2000


class History:
    """All numbers of a run; the `rows` are parameters and outputs, in the order of the model."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)
        self._series = Series(len(STATISTICS) * len(self.rows) + len(TOTALS))
        self.marks: list[Mark] = []  # what happened, the newest `MOST_MARKS`
        self.settings: dict[str, str] = {}  # with what it is trained: "optimizer", "lr", "dtype", "input" ..., at the beginning
        self.is_elsewhere = False  # an optimizer has stepped in another thread, which is not watched
        self.ranks: Ranks | None = None  # what all ranks of a job told, on rank 0 of one; else None

    @property
    def steps(self) -> int:
        """How many steps there were."""
        return self._series.count

    @property
    def series(self) -> dict[str, Series]:
        """By name of `STATISTICS`, one column for each row."""
        count = len(self.rows)
        return {name: self._series.part(slice(k * count, (k + 1) * count)) for k, name in enumerate(STATISTICS)}

    @property
    def totals(self) -> Series:
        """One column for each of `TOTALS`."""
        return self._series.part(slice(len(STATISTICS) * len(self.rows), None))

    def add(self, values: Numbers, seen: NDArray[np.bool_]) -> None:
        """More steps: values and whether they were measured; the rows of each of `STATISTICS`, then `TOTALS`."""
        self._series.add(values, seen)

    def mark(self, step: int, kind: str, text: str = "") -> None:
        """Note what happened at a step."""
        if kind == "elsewhere":
            self.is_elsewhere = True
        elif kind == "setting":
            self.settings.setdefault(*text.split("=", 1))
        else:
            self.marks = [*self.marks, Mark(step, kind, text)][-MOST_MARKS:]
