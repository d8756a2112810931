"""The ranks of a job in one run. Each tells windows of steps, and rank 0 joins what all told.

# Note [Windows]
Ranks need not wait for each other, so they do not tell single steps. A window has 64 steps: of each row the least, the mean and
the most, how often it was nan or inf, and the same of the loss. That is 16 bytes a row and window. A window is joined when all
ranks have told it, or when it is old. Then only least, mean and most over the ranks are kept, and who had the most.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import words
from ...graph.passes import STATISTICS
from ...graph.text import few_names
from .rows import Numbers, Row

STEPS = 64  # of a window
KEPT = 256  # windows that are joined
WAITING = 8  # windows that may miss a rank before they are joined
FAR = 100.0  # times the least of another rank
FAR_LOSS = 3.0  # times the median loss of all ranks
HEAD = struct.Struct("<iii")


class Window(NamedTuple):
    """What a rank tells of a window."""

    rank: int
    window: int
    steps: int  # rank, window, steps: whose, which, and how many steps it has
    least: Numbers
    mean: Numbers
    # least, mean, most: of the finite norms; nan where there is none. Shape (rows + 1,): the last one is the loss.
    most: Numbers
    bad: Numbers  # how often a norm was nan or inf

    def pack(self) -> bytes:
        """As bytes: 16 for each row."""
        return HEAD.pack(self.rank, self.window, self.steps) + np.stack(self[3:]).astype("<f4").tobytes()


def unpack(packed: bytes) -> Window:
    """What a rank has packed."""
    numbers = np.frombuffer(packed, "<f4", offset=HEAD.size).reshape(4, -1)
    return Window(*HEAD.unpack_from(packed), *numbers)


class Teller:
    """Makes windows of the steps of this rank: the norms of all rows, and the loss."""

    def __init__(self, rank: int, rows: int) -> None:
        self._rank, self._window = rank, 0
        self._columns = [*range(rows), len(STATISTICS) * rows]
        self._norms: list[Numbers] = []

    def add(self, values: Numbers, seen: NDArray[np.bool_]) -> Iterator[Window]:
        """More steps, as `History.add` gets them; gives the windows that are complete."""
        masked = np.ma.MaskedArray(values[:, self._columns], ~seen[:, self._columns])  # nan is measured, masked is not
        self._norms += list(masked)
        while len(self._norms) >= STEPS:
            yield self._told(STEPS)

    def rest(self) -> Iterator[Window]:
        """The last window, which is not complete."""
        if self._norms:
            yield self._told(len(self._norms))

    def _told(self, steps: int) -> Window:
        window, self._norms = np.ma.stack(self._norms[:steps]), self._norms[steps:]
        seen = ~np.ma.getmaskarray(window)
        finite = np.where(seen & np.isfinite(window.data), window.data, np.nan).astype(np.float32)
        bad = (seen & ~np.isfinite(window.data)).sum(0).astype(np.float32)
        self._window += 1
        return Window(self._rank, self._window - 1, steps, np.fmin.reduce(finite), _mean(finite), np.fmax.reduce(finite), bad)


def _mean(values: Numbers) -> Numbers:
    """The mean of the finite numbers of each column; nan where there is none."""
    count = np.isfinite(values).sum(0)
    mean: Numbers = np.divide(np.nansum(values, 0), count, out=np.full(count.shape, np.nan, np.float32), where=count > 0)
    return mean


class Joined(NamedTuple):
    """A window of all ranks."""

    window: int  # which
    ranks: tuple[int, ...]  # those that told it
    least: Numbers
    mean: Numbers
    most: Numbers  # least, mean, most: over these ranks, shape (rows + 1,)
    worst: NDArray[np.int64]  # the rank with the most
    bad: tuple[tuple[int, ...], ...]  # by row, the ranks that had nan or inf
    losses: Numbers  # the mean loss of each of these ranks


class Ranks:
    """What all ranks of a job have told."""

    def __init__(self, world: int) -> None:
        self.world = world
        self.joined: list[Joined] = []  # the last windows, oldest first
        self.steps = [0] * world  # by rank, how many steps it has told
        self.others: Mapping[int, str] = {}  # by rank that watches another model instead, that one
        self._waiting: dict[int, dict[int, Window]] = {}

    def add(self, told: Window) -> None:
        """What a rank tells of its next window."""
        self.steps[told.rank] += told.steps
        if self.joined and told.window <= self.joined[-1].window:
            return  # too late
        self._waiting.setdefault(told.window, {})[told.rank] = told
        while self._waiting:
            first = min(self._waiting)
            if len(self._waiting[first]) < self.world and len(self._waiting) <= WAITING:
                return
            self._join(first)

    def end(self) -> None:
        """Join what is there: nobody tells any more."""
        for window in sorted(self._waiting):
            self._join(window)

    def _join(self, window: int) -> None:
        told = [t for _, t in sorted(self._waiting.pop(window).items())]
        ranks = tuple(t.rank for t in told)
        least, means, most, bad = (np.stack(numbers) for numbers in zip(*(t[3:] for t in told), strict=True))
        worst = np.array(ranks)[np.argmax(np.where(np.isfinite(most), most, -np.inf), 0)]
        whose = tuple(tuple(r for r, is_bad in zip(ranks, column, strict=True) if is_bad) for column in bad.T > 0)
        ends = np.fmin.reduce(least), _mean(means), np.fmax.reduce(most)
        joined = Joined(window, ranks, *ends, worst, whose, means[:, -1])
        self.joined = [*self.joined, joined][-KEPT:]

    def losses_at(self, steps: Sequence[int]) -> tuple[Numbers, Numbers]:
        """The least and the most loss of all ranks around these steps; nan where it is not known."""
        known = {joined.window: (joined.least[-1], joined.most[-1]) for joined in self.joined}
        pairs = [known.get(step // STEPS, (np.nan, np.nan)) for step in steps]
        return np.array([a for a, _ in pairs], "<f4"), np.array([b for _, b in pairs], "<f4")

    def numbers(self, rows: Sequence[int]) -> Numbers:
        """Of each window: its first step; then by row least, mean and most over the ranks, and the rank with the most. Shape
        (windows, 1 + 4 * rows).
        """
        lines = [np.concatenate([[j.window * STEPS], *(of[list(rows)] for of in j[2:6])]) for j in self.joined]
        return np.array(lines, "<f4").reshape(len(lines), 1 + 4 * len(rows))

    def sentences(self, rows: Sequence[Row]) -> list[tuple[int | None, str]]:
        """What is odd between the ranks, each with its row, or None."""
        return [*self._silent(), *self._bad(rows), *self._losses(), *self._far(rows)]

    def _silent(self) -> Iterator[tuple[None, str]]:
        for other in dict.fromkeys(self.others.values()):
            ranks = [str(r) for r, name in sorted(self.others.items()) if name == other]
            yield None, words.RUN_RANK_OTHER.format(ranks=few_names(ranks), other=other)
        never = [str(r) for r in range(self.world) if not self.steps[r] and r not in self.others]
        if never and any(self.steps):
            yield None, words.RUN_RANK_SILENT.format(ranks=few_names(never))
        late = [r for r in range(self.world) if 0 < self.steps[r] < max(self.steps) - 2 * STEPS]
        for rank in late:
            yield None, words.RUN_RANK_LATE.format(rank=rank, steps=max(self.steps) - self.steps[rank])

    def _bad(self, rows: Sequence[Row]) -> Iterator[tuple[int | None, str]]:
        names = [*(row.path or words.RUN_MODEL for row in rows), words.RUN_LOSS]
        for k, name in enumerate(names):
            for joined in self.joined:
                if 0 < len(joined.bad[k]) < len(joined.ranks):
                    said = {"name": name, "ranks": few_names([str(r) for r in joined.bad[k]])}
                    yield k if k < len(rows) else None, words.RUN_RANK_BAD.format(**said, **_span(joined))
                    break

    def _losses(self) -> Iterator[tuple[None, str]]:
        for joined in self.joined[-1:]:
            usual = float(np.nanmedian(joined.losses)) if np.isfinite(joined.losses).any() else 0.0
            for rank, loss in zip(joined.ranks, joined.losses.tolist(), strict=True):
                if usual > 0 and loss > FAR_LOSS * usual:
                    yield None, words.RUN_RANK_LOSS.format(rank=rank, loss=f"{loss:.3g}", usual=f"{usual:.3g}")

    def _far(self, rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
        for joined in self.joined[-1:]:
            for k, row in enumerate(rows):
                least, most = float(joined.least[k]), float(joined.most[k])
                if least > 0 and most > FAR * least and row.kind == "output":
                    said = {"name": row.path or words.RUN_MODEL, "rank": joined.worst[k]}
                    yield k, words.RUN_RANK_FAR.format(**said, most=f"{most:.3g}", least=f"{least:.3g}")

    def table(self, rows: Sequence[Row]) -> dict[str, list[Any]]:
        """One line for each window and row, and for the loss: least, mean and most over the ranks, and who had the most."""
        out: dict[str, list[Any]] = {n: [] for n in ("step", "path", "kind", "least", "mean", "most", "rank", "bad", "ranks")}
        kinds = [*((row.path, row.kind) for row in rows), ("", "loss")]
        for joined in self.joined:
            for k, (path, kind) in enumerate(kinds):
                numbers = [float(of[k]) if np.isfinite(of[k]) else None for of in (joined.least, joined.mean, joined.most)]
                counts = len(joined.bad[k]), len(joined.ranks)
                values = (_span(joined)["step"], path, kind, *numbers, int(joined.worst[k]), *counts)
                for column, value in zip(out.values(), values, strict=True):
                    column.append(value)
        return out


def _span(joined: Joined) -> dict[str, int]:
    return {"step": joined.window * STEPS, "end": (joined.window + 1) * STEPS - 1}
