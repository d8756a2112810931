"""A run as data for a page: what its canvas paints and says."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import words
from ..render import THEMES
from .grid import Grid, grid_of
from .history import History
from .odd import FEW, Odd, odd_in, sentences, size_said
from .plot import SCALE, decades

COLUMNS = 480  # of a page, at most
LABELS = (
    "LOSS", "LOSS_LOG", "STEP", "GRADIENT", "NOT_FINITE", "ALL_ZERO", "NOT_MEASURED", "UNREACHED", "RATE", "SKIPPED", "CELL",
    "CELLS", "CELL_RANKS", "HELP", "OPEN", "OPEN_LAST", "CLOSE", "NOTHING_ODD", "PICTURE", "LIVE", "CURVE", "PROBE",
)  # fmt: skip


def run_page(
    history: History, name: str, class_name: str, stopped: str, opened: list[int], is_live: bool, theme: str = "auto"
) -> dict[str, Any]:
    """The data of a page. `stopped` is the error that stopped the run, or ""; `opened` are the steps that can be opened. Of
    each row: is it odd, and has a gradient reached it; `start`: the first step of each column. Numbers are float32 as base64,
    `bad` is bytes. `has_gaps`: something was not measured; `is_judged`: there are enough steps for something to be odd. `low`
    and `high` are exponents of the `scale`. `odd`: sentences, each with its row, or one of its module, or -1.
    """
    odd = odd_in(history)
    grid = grid_of(history, odd, COLUMNS)
    low, high = decades(grid.norms)
    return {
        "title": words.RUN_TITLE.format(name=name),
        "class_name": class_name,
        "class_state": size_said(class_name, history.steps),
        "steps": history.steps,
        "rows": _rows(history, grid),
        "has_gaps": grid.has_gaps,
        "is_judged": history.steps >= FEW,
        "start": list(grid.start),
        "norms": _packed(grid.norms.astype("<f4")),
        "bad": _packed(grid.bad.astype("u1")),
        "loss": _packed(grid.loss.astype("<f4")),
        "probe": _packed(grid.probe.astype("<f4")),
        "spread": None if history.ranks is None else [_packed(a) for a in history.ranks.losses_at(grid.start)],
        "ranks": None if history.ranks is None else _packed(history.ranks.numbers([line.row for line in grid.lines])),
        "low": low,
        "high": high,
        "scale": SCALE,
        "odd": _odd(history, odd, grid),
        "marks": [m._asdict() for m in history.marks if m.kind in ("rate", "skipped")][-200:],
        "stopped": stopped,
        "opened": opened,
        "is_live": is_live,
        "words": {label.lower(): getattr(words, f"RUN_{label}") for label in LABELS},
        "palettes": {name: THEMES[name].colours() for name in (("light", "dark") if theme == "auto" else (theme,))},
        "language": words.language(),
    }


def _rows(history: History, grid: Grid) -> list[dict[str, Any]]:
    return [
        {"heading": w.heading, "label": w.label, "path": history.rows[w.row].path, "odd": w.is_odd, "reached": reached}
        for w, reached in zip(grid.lines, grid.reached.tolist(), strict=True)
    ]


def _odd(history: History, odd: Sequence[Odd], grid: Grid) -> list[dict[str, Any]]:
    """Sentences, each with the row of the picture that shows it, or one of its module, or -1."""
    place = {line.row: k for k, line in enumerate(grid.lines)}
    of_module = {history.rows[row].module: k for row, k in reversed(place.items())}

    def shown(row: int | None) -> int:
        return -1 if row is None else place.get(row, of_module.get(history.rows[row].module, -1))

    return [{"row": shown(row), "sentence": sentence} for row, sentence in sentences(history, odd)]


def _packed(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
