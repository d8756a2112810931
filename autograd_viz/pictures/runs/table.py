"""The numbers of a run as a table, as JSON and as CSV; and runs that each rank has saved for itself, joined."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...graph.passes import STATISTICS, TOTALS
from .history import History, Spans
from .odd import odd_in
from .ranks import STEPS, Ranks, Window
from .rows import Row

COLUMNS = ("step", "steps", "path", "kind", "norm", "rms", "largest", "zeros", "update", "bad")


def table_of(history: History) -> dict[str, list[Any]]:
    """By column, a line for each row and span of steps in which it was measured. `step`, the first one; `steps`, how many;
    `path`; `kind`; then means: `norm`, `rms` (of parameters), `largest`, `zeros` (a share), `update` (÷ parameter); `bad`, how
    often the norm was nan or inf. None: not measured.
    """
    spans = {name: series.spans() for name, series in history.series.items()}
    norm = spans["norm"]
    widths = np.diff(np.append(norm.start, history.steps))
    out: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for s, (step, width) in enumerate(zip(norm.start.tolist(), widths.tolist(), strict=True)):
        for r, row in enumerate(history.rows):
            if math.isnan(norm.mean[s, r]) and not norm.bad[s, r]:
                continue
            values = {name: _number(spans[name].mean[s, r]) for name in STATISTICS}
            rms = values["norm"] / math.sqrt(row.size) if values["norm"] is not None and row.size else None
            line = {"step": step, "steps": width, "path": row.path, "kind": row.kind, "rms": rms, **values}
            for name, value in {**line, "bad": int(norm.bad[s, r])}.items():
                out[name].append(value)
    return out


def totals_of(history: History) -> dict[str, list[Any]]:
    """By step or span: loss, clip (the factor by which gradients were scaled), rate, passes, seconds; means."""
    spans: Spans = history.totals.spans()
    values = {name: [_number(v) for v in spans.mean[:, k]] for k, name in enumerate(TOTALS)}
    return {"step": spans.start.tolist(), **values}


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def run_json(history: History) -> str:
    """Totals, table, marks, settings and what is odd, as JSON."""
    return json.dumps(told(history), allow_nan=False) + "\n"


def told(history: History) -> dict[str, Any]:
    """What the JSON of a run has."""
    odd = [{"path": history.rows[o.row].path, "kind": o.kind, "sentence": o.sentence} for o in odd_in(history)]
    marks = [mark._asdict() for mark in history.marks]
    numbers = {"steps": history.steps, "totals": totals_of(history), "table": table_of(history)}
    return {**numbers, "settings": history.settings, "marks": marks, "odd": odd}


def run_csv(history: History) -> str:
    """The table as CSV."""
    table, out = table_of(history), io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(zip(*(table[name] for name in COLUMNS), strict=True))
    return out.getvalue()


def join_runs(runs: Mapping[int, Mapping[str, Any]]) -> tuple[Ranks, list[Row]]:
    """The windows of all ranks, and what is measured in them. A rank without a run is silent. `runs`: by rank, what `save`
    wrote as .json (`runs.table`).
    """
    found = dict.fromkeys(
        pair for run in runs.values() for pair in zip(run["table"]["path"], run["table"]["kind"], strict=True)
    )
    rows = [Row(path, kind, path.rpartition(".")[2], 0) for path, kind in found]
    place = {pair: k for k, pair in enumerate(found)}
    ranks = Ranks(max(runs, default=-1) + 1)
    told = [t for rank, run in runs.items() for t in _windows(rank, run, place)]
    for one in sorted(told, key=lambda t: (t.window, t.rank)):
        ranks.add(one)
    ranks.end()
    return ranks, rows


def _windows(rank: int, run: Mapping[str, Any], place: Mapping[tuple[str, str], int]) -> list[Window]:
    """The windows of one run. A span of joined steps counts in the window of its first step."""
    norms: dict[int, list[list[float]]] = {}
    bad: dict[int, Any] = {}
    table, totals = run["table"], run["totals"]
    for step, path, kind, norm, times in zip(*(table[n] for n in ("step", "path", "kind", "norm", "bad")), strict=True):
        window = step // STEPS
        columns = norms.setdefault(window, [[] for _ in range(len(place) + 1)])
        bad.setdefault(window, np.zeros(len(place) + 1, np.float32))[place[path, kind]] += times
        columns[place[path, kind]] += [] if norm is None else [norm]
    for step, loss in zip(totals["step"], totals["loss"], strict=True):
        if step // STEPS in norms:
            norms[step // STEPS][-1] += [] if loss is None else [loss]
    last = max(norms, default=0)
    found = []
    for window, columns in sorted(norms.items()):
        least, mean, most = (np.array([f(c) if c else np.nan for c in columns], np.float32) for f in (min, np.mean, max))
        steps = STEPS if window < last else int(run["steps"]) - STEPS * last
        found.append(Window(rank, window, max(steps, 1), least, mean, most, bad[window]))
    return found
