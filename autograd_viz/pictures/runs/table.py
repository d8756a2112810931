"""The numbers of a run as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np

from .history import History, Spans
from .odd import odd_in
from .rows import STATISTICS, TOTALS

COLUMNS = ("step", "steps", "path", "kind", "norm", "rms", "largest", "zeros", "update", "bad")


def table_of(history: History) -> dict[str, list[Any]]:
    """One line for each row and span of steps in which it was measured.

    Returns:
        by column: `step`, the first one; `steps`, how many; `path`; `kind`; then means: `norm`, `rms` (of parameters),
        `largest`, `zeros` (a share), `update` (÷ parameter); `bad`, how often the norm was nan or inf. None: not measured.
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
