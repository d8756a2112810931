"""The steps of a run in blocks: what has been measured of the current one, and when it ends.

# Note [Light and full steps]
Every step has the loss, the rates, and the norm of each parameter's gradient. A full step also has the rest: outputs of
modules, largest values, zeros, updates. The first block is full. After each block, its measured price says how often a
step is full: for `SHARE` of the time. Ranks of a job wait for each other in every step, so they weigh nothing: after their
first block one step in `SELDOM` is full, the same one on all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch

from ..run_rows import Rows
from .run_held import Held
from .run_numbers import all_real, largest, norms, real, zeros
from .run_table import BLOCK, Table

SHARE = 0.005  # of the time that a step takes, for what only full steps have
SELDOM = 64  # at least one step in so many is full
LOSS, CLIP = 0, 1  # the columns of totals on the device
RATE, PASSES, SECONDS = 0, 1, 2  # and of those that the host knows


class Sink(Protocol):
    """Where the numbers go."""

    def add(self, blocks: dict[str, tuple[Any, Any]]) -> None:
        """More steps: by name of the statistic, values and whether they were measured."""

    def mark(self, step: int, kind: str, text: str = "") -> None:
        """Something happened at a step."""


class Steps:
    """The steps of a run.

    Args:
        rows: what is measured.
        sink: gets the numbers, in blocks of up to 64 steps.
        is_rank: other ranks have the same steps.

    Attributes:
        count: how many steps are complete.
        every: one step in so many is full.
        is_full: the current one is.
        spent: seconds that measuring it took.
        passes: how many backward passes it has had.
        optimizers: those that have stepped in it.
    """

    def __init__(self, rows: Rows, sink: Sink, *, is_rank: bool = False) -> None:
        self.rows, self.sink, self._is_rank = rows, sink, is_rank
        self.count, self.every, self.is_full = 0, 1, True
        self.spent, self.passes, self.optimizers = 0.0, 0, list[Any]()
        self._device = rows.parameters[0].device
        self._tables = {name: Table(len(rows.named), self._device) for name in ("norm", "largest", "zeros", "update")}
        self._totals = Table(2, self._device)
        self._known = np.full((BLOCK, 3), np.nan, np.float32)
        self._k = 0  # the row of the block
        self._rates = dict[int, float]()
        self._measured: Sequence[int] = []  # the columns of the gradients that were measured last
        self._norms: Any = None  # and their norms
        self._price, self._least, self._began = 1e9, 1e9, perf_counter()

    # -- the current step ---------------------------------------------------------------------------------------------

    def put(self, name: str, columns: Sequence[int], values: Any) -> None:
        """Numbers of a statistic."""
        self._tables[name].put(self._k, columns, values)

    def measure(self, held: Held) -> None:
        """The gradients that an optimizer is about to use; under `no_grad`."""
        grads, columns = [p.grad for p in held.parameters], held.columns
        if any(g is None for g in grads):
            columns = [c for g, c in zip(grads, columns, strict=True) if g is not None]
            grads = [g for g in grads if g is not None]
        self._measured, self._norms = columns, None
        if not grads:
            return
        grads = all_real(grads)
        self._norms = self._tables["norm"].put_scalars(self._k, columns, norms(grads))
        if self.is_full:
            self.put("largest", columns, largest(grads))
            self.put("zeros", columns, zeros(grads))

    def arrived(self, column: int, grad: Any) -> None:
        """The gradient of a module's output. If it was called several times, the norm is that of all."""
        began = perf_counter()
        gradient, table = real(grad), self._tables["norm"]
        norm = norms([gradient])[0]
        is_seen = table.is_seen(self._k, column)
        cell = table.cell(self._k, column)
        cell.copy_(torch.hypot(cell, norm) if is_seen else norm)
        self.put("largest", [column], largest([gradient]))
        self.spent += perf_counter() - began

    def note_loss(self, root: Any) -> None:
        """The root of a pass."""
        self._totals.cell(self._k, LOSS).copy_(root.detach() if not root.dim() else real(root).reshape(-1)[0])

    def unscale_loss(self, scale: Any) -> None:
        """The loss was scaled before its pass; the first optimizer that steps after it says so."""
        if len(self.optimizers) == 1 and self._totals.is_seen(self._k, LOSS):
            self._totals.cell(self._k, LOSS).div_(scale.to(self._device))

    def note_clip(self, factor: Any) -> None:
        """Gradients were multiplied by a factor."""
        self._totals.cell(self._k, CLIP).copy_(factor)

    def note_rate(self, optimizer: Any) -> None:
        """The learning rate of an optimizer's first group."""
        rate = optimizer.param_groups[0].get("lr")
        if rate is None:
            return
        now, place = float(rate), len(self.optimizers)
        if place == 1:
            self._known[self._k, RATE] = now
        if self._rates.setdefault(place, now) != now:
            self.sink.mark(self.count, "rate", f"{self._rates[place]:.3g} → {now:.3g}")
            self._rates[place] = now

    def not_finite(self) -> list[int]:
        """The rows of parameters whose gradient was measured last, and is not finite."""
        values = [] if self._norms is None else self._norms.tolist()
        if math.isfinite(sum(values)):
            return []
        bad = []
        for column, value in zip(self._measured, values, strict=True):
            if not math.isfinite(value):
                grad = real(self.rows.parameters[column].grad)
                if bool(grad.isfinite().all()):  # its squares were too large for float32
                    self._tables["norm"].cell(self._k, column).copy_(torch.linalg.vector_norm(grad, dtype=torch.float64))
                else:
                    bad.append(self.rows.at(column))
        return sorted(bad)

    @property
    def loss(self) -> float:
        """The loss of the current step; nan if it is unknown."""
        return float(self._totals.now(self._k, [LOSS])[0]) if self._totals.is_seen(self._k, LOSS) else math.nan

    # -- blocks -------------------------------------------------------------------------------------------------------

    def end(self, after: Callable[[], None]) -> None:
        """The step ends when the next pass begins, so that all optimizers that step after a pass belong to it."""
        if not self.optimizers:
            return
        now = perf_counter()
        self._known[self._k, PASSES:] = self.passes, now - self._began
        self._weigh(now - self._began)
        self.optimizers, self.passes, self.spent, self._began = [], 0, 0.0, now
        self._k += 1
        self.count += 1
        self.is_full = self.count % self.every == 0
        if self._k == BLOCK:
            self.flush()
        after()

    def _weigh(self, seconds: float) -> None:
        """How often the next steps are full, from what the full ones cost."""
        self._price = min(self._price, self.spent) if self.is_full else self._price
        self._least = min(self._least, seconds)
        if self.count % BLOCK == BLOCK - 1:
            wanted = self._price / (SHARE * self._least)
            self.every = SELDOM if self._is_rank else min(SELDOM, 1 << max(0, int(wanted - 1e-9).bit_length()))
            self._price = self._least = 1e9  # the next steps are weighed anew

    def flush(self) -> None:
        """Hand all complete steps over."""
        steps, self._k = self._k, 0
        if not steps:
            return
        values, seen = self._totals.read(steps)
        known = self._known[:steps].copy()
        totals = np.concatenate([values, known], 1), np.concatenate([seen, ~np.isnan(known)], 1)
        blocks = {name: (v[:, self.rows.order], s[:, self.rows.order])
                  for name, (v, s) in ((name, t.read(steps)) for name, t in self._tables.items())}  # fmt: skip
        self.sink.add({**blocks, "totals": totals})
        for table in (*self._tables.values(), self._totals):
            table.start(steps)
        self._known[0], self._known[1:] = self._known[steps % BLOCK], np.nan
