"""Where two runs part: their numbers step by step, and what differs first.

In a step the loss comes first, then that of the probe batch, then the norms of gradients in the order of the model, then what
the optimizer did. Steps that are joined in one of the runs and not in the other are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from .rows import Numbers

AROUND = 10  # steps
LOSS, PROBE, GRADIENT, UPDATE = KINDS = ("loss", "probe", "gradient", "update")
Told = Mapping[str, Any]  # a run, as `run_json` writes it
Measured = tuple[Numbers, NDArray[np.bool_]]  # numbers, and whether they were measured


class Place(NamedTuple):
    """A number of both runs that differs."""

    step: int
    kind: str  # one of `KINDS`
    path: str  # of a parameter; "" for a loss
    a: float
    b: float  # a, b: in the two runs; nan where it was not finite
    gap: float  # |a - b| ÷ the largest around; inf if only one is finite


class Column(NamedTuple):
    """A number over the steps that both runs have."""

    kind: str
    path: str
    a: Numbers
    b: Numbers  # a, b: shape (steps,); nan where it was not finite, or not measured
    gap: Numbers  # as `Place.gap`; nan where one of them was not measured


class Apart:
    """Two runs compared."""

    def __init__(self, a: Told, b: Told) -> None:
        self.runs = a, b
        widths = [dict(zip(run["table"]["step"], run["table"]["steps"], strict=True)) for run in self.runs]
        for run, width in zip(self.runs, widths, strict=True):
            starts = [*run["totals"]["step"], run["steps"]]
            width.update((step, end - step) for step, end in zip(starts, starts[1:], strict=False))
        # the first step of each span that is compared, oldest first; int64, shape (steps,)
        self.steps = np.array(sorted(s for s, w in widths[0].items() if widths[1].get(s) == w), np.int64)
        at = {int(step): k for k, step in enumerate(self.steps)}
        tables = [_columns(run, at) for run in self.runs]
        parameters = [[path for kind, path in table if kind == GRADIENT] for table in tables]
        # paths of parameters at which a gradient arrived only in the first, and only in the second run
        self.only = tuple([p for p in mine if p not in other] for mine, other in (parameters, parameters[::-1]))
        both = sorted((key for key in tables[0] if key in tables[1]), key=lambda key: KINDS.index(key[0]))
        # the losses, the norms of all rows, their updates
        measured = [(key, tables[0][key], tables[1][key]) for key in both]
        self.columns = [Column(*key, a[0], b[0], _gap(a, b)) for key, a, b in measured]

    def first(self, tolerance: float = 0.0) -> Place | None:
        """The first number that differs by more than a share of its size; None if there is none."""
        return next(self.all_at_first(tolerance), None)

    def all_at_first(self, tolerance: float) -> Iterator[Place]:
        """All numbers of the same kind that differ in that step, the furthest first."""
        beyond = [np.flatnonzero(c.gap > tolerance) for c in self.columns]
        first = min((int(where[0]) for where in beyond if len(where)), default=None)
        if first is None:
            return
        there = [c for c in self.columns if c.gap[first] > tolerance]
        same = [c for c in there if c.kind == there[0].kind]
        for c in sorted(same, key=lambda c: -c.gap[first]):
            yield self._place(c, first)

    def _place(self, c: Column, k: int) -> Place:
        return Place(int(self.steps[k]), c.kind, c.path, float(c.a[k]), float(c.b[k]), float(c.gap[k]))

    @cached_property
    def furthest(self) -> Place | None:
        """The largest gap of losses and gradients."""
        known = (c for c in self.columns if c.kind != UPDATE and not np.isnan(c.gap).all())
        return max((self._place(c, int(np.nanargmax(c.gap))) for c in known), key=lambda place: place.gap, default=None)

    def knows_loss(self, step: int) -> bool:
        """Was the loss of a step measured in both?"""
        losses = [c.gap[self.steps == step] for c in self.columns if c.kind == LOSS]
        return any(not np.isnan(gap).any() for gap in losses)

    def settings(self) -> list[tuple[str, str, str]]:
        """Settings that differ: name, and what it is in each."""
        a, b = (run.get("settings", {}) for run in self.runs)
        return [(name, a[name], b[name]) for name in a if name in b and a[name] != b[name]]

    def rates(self) -> tuple[int, float, float] | None:
        """The first step with another learning rate, and the rates."""
        a, b = (dict(zip(run["totals"]["step"], run["totals"]["rate"], strict=True)) for run in self.runs)
        found = ((s, a[s], b[s]) for s in map(int, self.steps) if a.get(s) is not None and b.get(s) is not None)
        return next((f for f in found if not math.isclose(f[1], f[2], rel_tol=1e-6)), None)

    def by_row(self, tolerance: float) -> list[dict[str, Any]]:
        """For the loss and each row: the first step that differs beyond the tolerance, and the largest gap with its step."""
        out = []
        for c in (c for c in self.columns if not np.isnan(c.gap).all()):
            beyond, most = np.flatnonzero(c.gap > tolerance), int(np.nanargmax(c.gap))
            first = int(self.steps[beyond[0]]) if len(beyond) else None
            gap = min(float(c.gap[most]), 1e308)
            out.append({"kind": c.kind, "name": c.path, "first": first, "relative": gap, "step": int(self.steps[most])})
        return out

    def by_step(self, tolerance: float) -> list[dict[str, Any]]:
        """For each step: both losses, the row with the largest gap, and how many differ beyond the tolerance."""
        gaps = np.stack([c.gap for c in self.columns]) if self.columns else np.zeros((0, len(self.steps)))
        loss = next((c for c in self.columns if c.kind == LOSS), None)
        out = []
        for k, step in enumerate(self.steps):
            known = not np.isnan(gaps[:, k]).all()
            c = self.columns[int(np.nanargmax(gaps[:, k]))] if known else None
            losses = [None, None] if loss is None else [_json(loss.a[k]), _json(loss.b[k])]
            out.append({
                "step": int(step), "a": losses[0], "b": losses[1], "kind": c.kind if c else "", "name": c.path if c else "",
                "relative": min(float(np.nanmax(gaps[:, k])), 1e308) if known else None,
                "beyond": int((gaps[:, k] > tolerance).sum()),
            })  # fmt: skip
        return out


def _columns(run: Told, at: Mapping[int, int]) -> dict[tuple[str, str], Measured]:
    """By kind and path: numbers, and whether they were measured."""
    table, totals = run["table"], run["totals"]
    found: dict[tuple[str, str], Measured] = {}

    def put(kind: str, path: str, step: int, value: float | None, is_seen: bool) -> None:
        if step in at and is_seen:
            numbers, seen = found.setdefault((kind, path), (np.full(len(at), np.nan), np.zeros(len(at), bool)))
            numbers[at[step]], seen[at[step]] = np.nan if value is None else value, True

    for kind in (LOSS, PROBE):
        for step, loss in zip(totals["step"], totals.get(kind, ()), strict=False):
            put(kind, "", step, loss, loss is not None)
    names = "step", "path", "kind", "norm", "update", "bad"
    for step, path, kind, norm, update, bad in zip(*(table[name] for name in names), strict=True):
        if kind == "parameter":
            put(GRADIENT, path, step, None if bad else norm, is_seen=True)
            put(UPDATE, path, step, update, update is not None)
    return found


def _gap(a: Measured, b: Measured) -> Numbers:
    """|a - b| ÷ the largest of both in the steps around: a gradient that crosses zero has no size of its own."""
    (x, seen), (y, there) = a, b
    largest = np.pad(np.fmax(np.abs(x), np.abs(y)), AROUND, constant_values=np.nan)
    with np.errstate(all="ignore"):
        gap = np.abs(x - y) / np.fmax.reduce(sliding_window_view(largest, 2 * AROUND + 1), axis=-1)
    gap[x == y] = 0.0
    gap[np.isnan(x) & np.isnan(y)] = 0.0
    gap[np.isnan(x) != np.isnan(y)] = np.inf
    gap[~(seen & there)] = np.nan
    return np.asarray(gap)


def _json(x: Any) -> float | None:
    return float(x) if math.isfinite(x) else None
