"""The heat map of a run: which rows, in which order, and what stands in each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...graph.passes import TOTALS
from .history import History
from .odd import Odd
from .rows import Numbers, Row

MOST_ROWS = 90
MOST_COLUMNS = 240


@dataclass(frozen=True)
class Line:
    """A row of the heat map: one parameter, for the module that it belongs to."""

    row: int  # its place in `History.rows`.
    heading: str  # the block that it stands in: "layers.0".
    label: str  # the rest of the path of its module, or the name of the parameter
    is_odd: bool = False  # something is odd in it


@dataclass(frozen=True)
class Grid:
    """What the heat map shows."""

    lines: tuple[Line, ...]  # its rows, from the top
    start: Sequence[int]  # the first step of each column; `end`: the step after its last one
    end: Sequence[int]
    norms: Numbers  # the largest norm in each cell, shape (lines, columns); nan where nothing was measured
    bad: NDArray[np.bool_]  # cells with nan or inf
    loss: Numbers  # the mean loss of each column; nan where it is unknown
    probe: Numbers  # the loss of the probe batch; nan where it was not measured

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Rows in which a gradient has ever arrived; before the first step, all."""
        seen = self.bad | ~np.isnan(self.norms)
        return np.asarray(seen.any(1) if len(self.start) else np.ones(len(self.lines), bool))

    @property
    def has_gaps(self) -> bool:
        """Is something not measured in a row that a gradient has reached?"""
        return bool((np.isnan(self.norms) & ~self.bad)[self.reached].any())


def grid_of(history: History, odd: Sequence[Odd] = (), most_columns: int = MOST_COLUMNS) -> Grid:
    """The heat map of a run, in the order of the model."""
    lines = lines_of(history.rows, odd)
    spans, totals = history.series["norm"].spans(), history.totals.spans()
    rows = [line.row for line in lines]
    cuts = np.linspace(0, len(spans.start), min(most_columns, len(spans.start)) + 1).astype(int)[:-1]
    if not len(cuts):
        empty = np.zeros((len(lines), 0), np.float32)
        return Grid(lines, [], [], empty, empty > 0, np.zeros(0, np.float32), np.zeros(0, np.float32))
    norms = np.fmax.reduceat(spans.most[:, rows], cuts, axis=0)
    bad = np.add.reduceat(spans.bad[:, rows], cuts, axis=0) > 0
    known = np.where(totals.bad > 0, np.nan, totals.mean)
    loss, probe = (np.fmax.reduceat(known[:, TOTALS.index(name)], cuts) for name in ("loss", "probe"))
    start = spans.start[cuts]
    return Grid(lines, start.tolist(), [*start[1:].tolist(), history.steps], norms.T, bad.T, loss, probe)


def lines_of(rows: Sequence[Row], odd: Sequence[Odd] = ()) -> tuple[Line, ...]:
    """One row for each module with parameters: its oddest one, else its largest one, in the order of the model. Of a deep
    model, one for each part at some depth.
    """
    rank = {o.row: o.rank for o in odd}
    parameters = [(k, row) for k, row in enumerate(rows) if row.kind == "parameter"]
    chosen = dict[str, int]()
    for depth in range(max((row.module.count(".") + 1 for _, row in parameters), default=1), 0, -1):
        chosen = {}
        for k, row in sorted(parameters, key=lambda p: (rank.get(p[0], 99), -p[1].size, p[0])):
            chosen.setdefault(".".join(row.module.split(".")[:depth]), k)
        if len(chosen) <= MOST_ROWS:
            break
    return tuple(_line(k, rows[k], k in rank) for k in sorted(chosen.values()))


def _line(k: int, row: Row, is_odd: bool) -> Line:
    parts = row.module.split(".") if row.module else []
    number = next((i for i, part in enumerate(parts) if part.isdigit()), None)
    if number is not None and number + 1 < len(parts):
        return Line(k, ".".join(parts[: number + 1]), ".".join(parts[number + 1 :]), is_odd)
    if number is None and len(parts) > 1:
        return Line(k, parts[0], ".".join(parts[1:]), is_odd)
    return Line(k, row.module, row.name, is_odd)
