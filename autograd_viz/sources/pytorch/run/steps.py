"""The steps of a run in blocks: what has been measured of the current one, and when it ends.

# Note [Light and full steps]
Every step has the loss, the rates, and the norm of each parameter's gradient. A full step also has the rest: outputs of
modules, largest values, zeros, updates. Of the first block `FIRST` are full. After each block, its measured price says how
often a step is full: for `SHARE` of the time. Ranks of a job wait for each other in every step, so they weigh nothing: after
their first block one step in `BLOCK` is full, the same one on all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch

from ...shared.run.table import BLOCK, Rows, Sink, Table, Totals
from .numbers import as_numbers, floats, is_plain, largest, norms, real, stack, zeros


@dataclass
class OptimizerPart:
    """The parameters of a run that an optimizer holds."""

    total: int  # number of all parameters that the optimizer had when it was looked at
    parameters: Sequence[Any]  # those of the run
    columns: Sequence[int]  # their columns
    are_plain: bool  # they are dense and float32, and no gradient was found to be sparse


def part_of(optimizer: Any, rows: Rows) -> OptimizerPart:
    """What an optimizer holds of a run."""
    everything = [p for group in optimizer.param_groups for p in group["params"]]
    places = sorted(rows.of_parameter[p] for p in everything if p in rows.of_parameter)
    parameters = [rows.parameters[i] for i in places]
    are_plain = all(is_plain(p) and p.dtype is torch.float32 for p in parameters)
    return OptimizerPart(len(everything), parameters, places, are_plain)


FIRST = frozenset((0, 1, 2, 4, 8, 16, 32))  # full steps of the first block: what a model does at first changes fast
SHARE = 0.0025  # of the time that a step takes, for what only full steps have
SELDOM = 128  # at least one step in so many is full


class Steps:
    """The steps of a run."""

    def __init__(self, rows: Rows, sink: Sink, *, is_rank: bool = False) -> None:
        self.rows, self.sink, self._is_rank = rows, sink, is_rank
        self.count, self.every, self.is_full = 0, 1, True  # complete steps; one in so many is full; the current one is
        self.spent, self.totals = 0.0, Totals()  # the seconds that measuring the current one took; what it has
        self._is_on_host = rows.parameters[0].device.type == "cpu"
        self._table = Table(rows.order, floats)
        self._measured: Sequence[int] = []  # the columns of the gradients that were measured last
        self._norms: Any = []  # and their norms
        self._price, self._least = 1e9, 1e9

    def put(self, name: str, columns: Sequence[int], values: object) -> None:
        """Numbers of a statistic."""
        self._table.put(name, columns, as_numbers(values))

    def measure(self, part: OptimizerPart) -> None:
        """The gradients that an optimizer is about to use; under `no_grad`."""
        grads, columns = [p.grad for p in part.parameters], part.columns
        if any(g is None for g in grads):
            columns = [c for g, c in zip(grads, columns, strict=True) if g is not None]
            grads = [g for g in grads if g is not None]
        self._measured, self._norms = columns, []
        if not grads:
            return
        part.are_plain = part.are_plain and all(g.layout is torch.strided for g in grads)
        if part.are_plain:
            scalars: Sequence[Any] = torch._foreach_norm(grads)
        else:
            grads = [real(g) for g in grads]
            scalars = norms(grads)
        self._norms = [s.item() for s in scalars] if self._is_on_host else stack(scalars)
        self._table.put("norm", columns, self._norms)
        if self.is_full:
            self.put("largest", columns, largest(grads))
            self.put("zeros", columns, zeros(grads))

    def arrived(self, column: int, grad: torch.Tensor | None) -> None:
        """The gradient of a module's output. If it was called several times, the norm is that of all."""
        began = perf_counter()
        gradient, before = real(grad), self._table.one("norm", column)
        norm = norms([gradient])[0]
        norm = norm if before is None else torch.hypot(torch.as_tensor(before), norm)
        self._table.put_one("norm", column, as_numbers(norm))
        self._table.put_one("largest", column, as_numbers(largest([gradient])[0]))
        self.spent += perf_counter() - began

    def note_pass(self, roots: Sequence[Any], is_own: bool) -> None:
        """A pass has run; its loss is the first root that has one element."""
        if not self.totals.counts(is_own):
            return
        for root in roots:
            if isinstance(root, torch.Tensor) and root.numel() == 1:
                is_here = self._is_on_host and not root.is_complex()
                self.totals.loss = root.item() if is_here else as_numbers(real(root).reshape(-1)[0])
                return

    def unscale_loss(self, scale: Any) -> None:
        """The loss was scaled before its pass; the first optimizer that steps after it says so."""
        if scale is not None and len(self.totals.optimizers) == 1 and self.totals.loss is not None:
            self.totals.loss = as_numbers(self.totals.loss / scale)

    def note_clip(self, factor: object) -> None:
        """Gradients were multiplied by a factor."""
        self.totals.clip = as_numbers(factor)

    def note_rate(self, optimizer: Any) -> None:
        """The learning rate of an optimizer that steps."""
        if changed := self.totals.note_rate(optimizer):
            self.sink.mark(self.count, "rate", changed)

    def not_finite(self) -> list[int]:
        """The rows of parameters whose gradient was measured last, and is not finite."""
        values = self._norms.tolist() if isinstance(self._norms, torch.Tensor) else self._norms
        if math.isfinite(sum(values)):
            return []
        bad = []
        for place, (column, value) in enumerate(zip(self._measured, values, strict=True)):
            if not math.isfinite(value):
                grad = real(self.rows.parameters[column].grad)
                if bool(grad.isfinite().all()):  # its squares were too large for float32
                    self._norms[place] = as_numbers(torch.linalg.vector_norm(grad, dtype=torch.float64))
                else:
                    bad.append(self.rows.at(column))
        return sorted(bad)

    @property
    def loss(self) -> float:
        """The loss of the current step; nan if it is unknown."""
        return math.nan if self.totals.loss is None else float(self.totals.loss)

    def end(self, after: Callable[[], None]) -> None:
        """The step ends."""
        numbers = self.totals.end()
        waiting = self._table.end(numbers)
        self._price = min(self._price, self.spent) if self.is_full else self._price
        self._least = min(self._least, numbers[-1])
        if self.count % BLOCK == BLOCK - 1:  # from what the full ones cost, how often the next steps are full
            wanted = self._price / (SHARE * self._least)
            self.every = BLOCK if self._is_rank else min(SELDOM, 1 << max(0, int(wanted - 1e-9).bit_length()))
            self._price = self._least = 1e9  # the next steps are weighed anew
        self.spent = 0.0
        self.count += 1
        self.is_full = self.count in FIRST if self.count < BLOCK else self.count % self.every == 0
        if waiting == BLOCK:
            self.flush()
        after()

    def flush(self) -> None:
        """Hand all complete steps over."""
        self.sink.add(*self._table.take())
