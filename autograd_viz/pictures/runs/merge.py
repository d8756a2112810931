"""Runs that each rank has saved for itself, joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .ranks import STEPS, Ranks, Window
from .rows import Row


def merged(runs: Mapping[int, Mapping[str, Any]]) -> tuple[Ranks, list[Row]]:
    """The windows of all ranks, and what is measured in them. A rank without a run is silent.

    `runs`: by rank, what `save` wrote as .json (`runs.table`).
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
