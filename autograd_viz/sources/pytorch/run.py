"""Watches a model while it is trained: the numbers of each step, at a price at which it can stay on.

# Note [Light and full steps]
Every step has the loss, the rates, and the norm of each parameter's gradient. A full step also has the rest: outputs of
modules, largest values, zeros, updates. How often a step is full follows from its measured price: `SHARE` of the time.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch
from torch.compiler import is_dynamo_compiling

from .run_hooks import Hooks
from .run_kept import Kept, keywords_of_call
from .run_numbers import all_real, largest, norms, real, update_ratios, zeros
from .run_rows import Held, held_by
from .run_table import BLOCK, Table

SHARE = 0.04  # of the time that a step takes, for what only full steps have
SELDOM = 64  # at least one step in so many is full
LOSS, CLIP = 0, 1  # the columns of totals on the device
RATE, PASSES, SECONDS = 0, 1, 2  # and of those that the host knows


class Sink(Protocol):
    """Where the numbers go."""

    def add(self, blocks: dict[str, tuple[Any, Any]]) -> None:
        """More steps: by name of the statistic, values and whether they were measured."""

    def mark(self, step: int, kind: str, text: str = "") -> None:
        """Something happened at a step."""


class RunWatch:
    """A run that is watched.

    Args:
        model: a PyTorch module.
        rows: what is measured of it.
        sink: gets the numbers, in blocks of up to 64 steps.
        keep: bytes for copies of parameters and inputs, so that the last pass can run again.

    Attributes:
        every: one step in so many is full.
        after: called when a step is complete.
        kept: the calls of the last pass.
        before: called before an optimizer steps, with the rows whose gradient is not finite; it may raise.
        faults: errors in here; the user's program did not notice them.
    """

    def __init__(self, model: Any, rows: Any, sink: Sink, keep: int) -> None:
        self.model, self.sink, self.rows = model, sink, rows
        self.kept = Kept(model, rows.parameters, keep)
        self.every, self.count = 1, 0
        self.before: Callable[[list[int]], None] | None = None
        self.after: Callable[[], None] | None = None
        self.faults: list[Exception] = []
        self._tables = {name: Table(len(rows.named), rows.device) for name in ("norm", "largest", "zeros", "update")}
        self._totals = Table(2, rows.device)
        self._known = np.full((BLOCK, 3), np.nan, np.float32)
        self._k = 0  # the row of the block
        self._held: weakref.WeakKeyDictionary[Any, Held] = weakref.WeakKeyDictionary()
        self._stepped: list[Any] = []  # optimizers that have made this step
        self._passes, self._scaler, self._rates = 0, None, dict[int, float]()
        self._node: Any = None  # of the last result
        self._price, self._least, self._spent, self._began = 1e9, 1e9, 0.0, perf_counter()
        self._is_full = True
        self._thread = threading.get_ident()
        self._hooks: Hooks | None = Hooks(self)

    @property
    def is_on(self) -> bool:
        """Is the model watched?"""
        return self._hooks is not None

    def close(self) -> None:
        """Stop watching."""
        if self._hooks is not None:
            self._hooks.remove()
            self._hooks = None
            self._end_step()
            self.flush()
            self.kept.let_go()

    # -- a forward pass -----------------------------------------------------------------------------------------------

    def enters(self, module: Any, args: Any) -> None:
        """A module is called."""
        if is_dynamo_compiling() or module is not self.model or not torch.is_grad_enabled():
            return
        if threading.get_ident() == self._thread:
            self._end_step()
            self._apart(self.kept.enters, args, keywords_of_call())

    def leaves(self, module: Any, args: Any, output: Any) -> None:
        """A module has returned."""
        if is_dynamo_compiling() or not (self._is_full or module is self.model):
            return
        row = self.rows.of_module.get(module)
        if row is not None and threading.get_ident() == self._thread:
            self._apart(self._follow, row, module, output)

    def _follow(self, row: int, module: Any, output: Any) -> None:
        result = first_result(output)
        if module is self.model:
            self.kept.leaves(output)
        if result is None or not self._is_full:
            return
        node, nr = result.grad_fn, result.output_nr

        def arrives(grads: Sequence[Any]) -> None:
            if self._is_full and self.is_on and grads[nr] is not None:
                self._apart(self._arrived, row, grads[nr])

        node.register_prehook(arrives)

    def _arrived(self, row: int, grad: Any) -> None:
        """The gradient of a module's output. If it was called several times, the norm is that of all."""
        began = perf_counter()
        gradient, table = real(grad), self._tables["norm"]
        norm = torch.linalg.vector_norm(gradient, dtype=torch.float32)
        is_seen = table.is_seen(self._k, row)
        cell = table.cell(self._k, row)
        cell.copy_(torch.hypot(cell, norm) if is_seen else norm)
        self._tables["largest"].put(self._k, [row], largest([gradient]))
        self._spent += perf_counter() - began

    # -- a backward pass ----------------------------------------------------------------------------------------------

    def runs_backward(self, run: Any, roots: Any, *args: Any, **kwargs: Any) -> Any:
        """A pass runs."""
        if kwargs.get("accumulate_grad"):
            self._end_step()
            self._apart(self._begins, roots)
        result = run(roots, *args, **kwargs)
        if kwargs.get("accumulate_grad"):
            self._passes += 1
            self.kept.has_run()
        return result

    def _begins(self, roots: Any) -> None:
        root = next((r for r in roots if isinstance(r, torch.Tensor) and r.numel() == 1), None)
        if root is not None:
            loss = root.detach() if not root.dim() else real(root).reshape(-1)[0]
            self._totals.cell(self._k, LOSS).copy_(loss, non_blocking=True)

    def clips(self, clip: Any, parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
        """Gradients are clipped."""
        if not isinstance(parameters, torch.Tensor):
            parameters = list(parameters)  # a generator is read once
        total = clip(parameters, max_norm, *args, **kwargs)
        self._apart(self._clipped, total, max_norm)
        return total

    def _clipped(self, total: Any, max_norm: float) -> None:
        self._totals.cell(self._k, CLIP).copy_(torch.clamp(float(max_norm) / (real(total) + 1e-6), max=1.0))

    # -- a step -------------------------------------------------------------------------------------------------------

    def scaler_steps(self, step: Any, scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """A gradient scaler steps an optimizer, or leaves it out."""
        before, self._scaler = len(self._stepped), scaler
        try:
            result = step(scaler, optimizer, *args, **kwargs)
            if len(self._stepped) == before and self._held_by(optimizer).parameters:
                self._apart(self._skipped, optimizer)
            return result
        finally:
            self._scaler = None

    def _skipped(self, optimizer: Any) -> None:
        self._stepped.append(optimizer)
        self._measure(self._held_by(optimizer))
        self.sink.mark(self.count, "skipped")

    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer is about to step."""
        if is_dynamo_compiling() or threading.get_ident() != self._thread:
            return
        began = perf_counter()
        self._apart(self._before_step, optimizer)
        self._spent += perf_counter() - began
        held = self._held.get(optimizer)
        if self.before is not None and held is not None and held.parameters:
            self._ask(held, getattr(optimizer, "found_inf", None) is not None)

    def _ask(self, held: Held, is_scaled: bool) -> None:
        """Tell `before` of this step. What it raises reaches the user, and the step counts as one that was not made."""
        bad = [] if is_scaled else self._not_finite(held)
        try:
            if self.before is not None:
                self.before(bad)
        except BaseException:
            self._end_step()
            self.flush()
            raise

    def _not_finite(self, held: Held) -> list[int]:
        """The rows of parameters whose gradient is not finite."""
        values = self._tables["norm"].now(self._k, held.columns)
        if math.isfinite(float(values.sum())):
            return []
        bad = []
        for column, value in zip(held.columns, values.tolist(), strict=True):
            if not math.isfinite(value):
                grad = real(self.rows.parameters[column].grad)
                if bool(grad.isfinite().all()):  # its squares were too large for float32
                    self._tables["norm"].cell(self._k, column).copy_(torch.linalg.vector_norm(grad, dtype=torch.float64))
                else:
                    bad.append(self.rows.order.index(column))
        return sorted(bad)

    def what(self, row: int) -> str:
        """What the gradient of a row is in this step: "nan" or "inf"."""
        grad = self.rows.parameters[self.rows.order[row]].grad
        return "nan" if bool(real(grad).isnan().any()) else "inf"

    @property
    def loss(self) -> float:
        """The loss of this step; nan if it is unknown."""
        return float(self._totals.now(self._k, [LOSS])[0]) if self._totals.is_seen(self._k, LOSS) else math.nan

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Inside the block nothing is watched."""
        hooks = self._hooks
        if hooks is not None:
            hooks.remove()
        try:
            yield
        finally:
            if hooks is not None:
                self._hooks = Hooks(self)

    def _before_step(self, optimizer: Any) -> None:
        held = self._held_by(optimizer)
        if not held.parameters:
            return
        if any(o is optimizer for o in self._stepped):
            self._end_step()
        self._stepped.append(optimizer)
        self._measure(held)
        self._note_rate(optimizer)
        self.kept.before_step()

    @torch.no_grad()
    def _measure(self, held: Held) -> None:
        pairs = [(g, c) for p, c in zip(held.parameters, held.columns, strict=True) if (g := p.grad) is not None]
        grads, columns = all_real([g for g, _ in pairs]), [c for _, c in pairs]
        if not grads:
            return
        self._tables["norm"].put(self._k, columns, norms(grads))
        if self._is_full:
            self._tables["largest"].put(self._k, columns, largest(grads))
            self._tables["zeros"].put(self._k, columns, zeros(grads))

    def _note_rate(self, optimizer: Any) -> None:
        rate = optimizer.param_groups[0].get("lr")
        if rate is None:
            return
        now, place = float(rate), len(self._stepped)
        if place == 1:
            self._known[self._k, RATE] = now
        if self._rates.setdefault(place, now) != now:
            self.sink.mark(self.count, "rate", f"{self._rates[place]:.3g} → {now:.3g}")
            self._rates[place] = now

    def step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer has stepped."""
        if is_dynamo_compiling() or threading.get_ident() != self._thread or optimizer not in self._held:
            return
        began = perf_counter()
        self._apart(self._after_step, optimizer)
        self._spent += perf_counter() - began

    @torch.no_grad()
    def _after_step(self, optimizer: Any) -> None:
        held = self._held[optimizer]
        if self._is_full and held.parameters and self.kept.parameters:
            before = [self.kept.parameters[self.rows.of_parameter[p]] for p in held.parameters]
            self._tables["update"].put(self._k, held.columns, update_ratios(before, held.parameters))
        if self._scaler is not None and self._scaler._scale is not None:
            self._totals.cell(self._k, LOSS).div_(self._scaler._scale.to(self.rows.device))

    def _held_by(self, optimizer: Any) -> Held:
        known = self._held.get(optimizer)
        if known is None or known.total != sum(len(g["params"]) for g in optimizer.param_groups):
            known = self._held[optimizer] = held_by(optimizer, self.rows)
        return known

    # -- steps in blocks ----------------------------------------------------------------------------------------------

    def _end_step(self) -> None:
        """The step ends when the next pass begins, so that all optimizers that step after a pass belong to it."""
        if not self._stepped:
            return
        now = perf_counter()
        self._known[self._k, PASSES:] = self._passes, now - self._began
        self._weigh(now - self._began)
        self._stepped, self._passes, self._spent, self._began = [], 0, 0.0, now
        self._k += 1
        self.count += 1
        self._is_full = self.count % self.every == 0
        if self._k == BLOCK:
            self.flush()
        if self.after is not None:
            self._apart(self.after)

    def _weigh(self, seconds: float) -> None:
        """How often the next steps are full, from what the full ones cost."""
        self._price = min(self._price, self._spent) if self._is_full else self._price
        self._least = min(self._least, seconds)
        if self.count % BLOCK == BLOCK - 1 or self.count == 3:
            wanted = self._price / (SHARE * self._least)
            self.every = min(SELDOM, 1 << max(0, int(wanted - 1e-9).bit_length()))
            self._price = self._least = 1e9  # the next steps are weighed anew

    def flush(self) -> None:
        """Hand all complete steps over."""
        steps, self._k = self._k, 0
        if steps:
            values, seen = self._totals.read(steps)
            known = self._known[:steps].copy()
            totals = np.concatenate([values, known], 1), np.concatenate([seen, ~np.isnan(known)], 1)
            blocks = {name: tuple(a[:, self.rows.order] for a in t.read(steps)) for name, t in self._tables.items()}
            self.sink.add({**blocks, "totals": totals})
        for table in (*self._tables.values(), self._totals):
            table.start()
        self._known[:] = np.nan

    def _apart(self, act: Any, *args: Any) -> None:
        """Nothing in here breaks the user's program."""
        try:
            act(*args)
        except Exception as error:
            self.faults = [*self.faults[-9:], error]


def first_result(output: Any) -> Any:
    """The first tensor with a grad_fn that a module returned: itself, or in a tuple, a list or a dictionary."""
    if isinstance(output, torch.Tensor):
        return output if output.grad_fn is not None else None
    parts = output.values() if isinstance(output, dict) else output if isinstance(output, (tuple, list)) else ()
    return next((p for p in parts if isinstance(p, torch.Tensor) and p.grad_fn is not None), None)
