"""Watches a model of autograd_viz while it is trained: the same numbers as of a PyTorch model (pytorch/run/run.py)."""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ...twin.core.backward.backward import run, start
from ...twin.core.backward.engine import GraphTask
from ...twin.core.base import events
from ...twin.core.base.grad_mode import is_grad_enabled
from ...twin.core.base.provenance import callers_place
from ...twin.core.tensor.random import default_generator
from ...twin.core.tensor.tensor import Tensor
from ..shared.replacement import Replacement, own_hook
from ..shared.run.results import MOST_CALLS, Again, Arrivals, Once, one_root, run_begins, run_ends
from ..shared.run.table import BLOCK, Rows, Sink, Table, Totals, note_settings
from . import run_moments as moments


class CoreRunWatch:
    """A run that is watched, as `pytorch.run.RunWatch`. A kept pass runs again on a copy of the model, with the same inputs and
    random state; with `keep` 0, none is kept.
    """

    def __init__(self, model: Any, rows: Rows, sink: Sink, keep: int) -> None:
        self.model, self.rows, self.sink = weakref.ref(model), rows, sink
        self.count, self.is_on = 0, True
        self.before: Callable[[list[int]], None] | None = None
        self.after: Callable[[], None] = lambda: None
        self.moments = moments.CoreMoments()
        self._keeps, self._kept, self._has_run = keep > 0, list[moments.CoreCall](), False
        self._table, self._totals, self._before = Table(rows.order), Totals(), dict[int, Any]()
        self._arrivals = Arrivals(moments.node_of, moments.is_leaf)
        self._optimizers = weakref.WeakSet[Any]()  # those whose settings are noted
        self._begun = self._reached = 0  # passes of this step; gradients that have arrived at results of the model
        around: list[Callable[..., Any]] = [self._runs_backward, self.steps, self.calls, self._clips, self._scales]
        names = ("passing", "stepping", "calling", "clipping", "scaling")
        self._names = [Replacement(events, *both) for both in zip(names, around, strict=True)]
        run_begins(self)

    @property
    def loss(self) -> float:
        """The loss of the current step; nan if it is unknown."""
        return math.nan if self._totals.loss is None else float(self._totals.loss)

    def close(self) -> None:
        """Stop watching."""
        if self.is_on:
            self.is_on = False
            for name in self._names:
                name.remove()
            run_ends(self)
            self.flush()
            self._kept = []

    def calls(self, calling: Any, module: Any, run: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module is called."""
        column = self.rows.of_module.get(module)
        if column is None or not is_grad_enabled():
            return calling(module, run, args, kwargs)
        kept = self._begins(args, kwargs) if module is self.model() else None
        output = calling(module, run, args, kwargs)
        is_first = True  # the gradients that arrive at results are noted, those at the first are measured
        for place, result in enumerate(moments.tensors_in(output)):
            arrives = partial(self._arrives, column, result._output_nr, Once()) if is_first else None
            if self._arrivals.follow(result, partial(self._put_hooks, result, place, kept, arrives)):
                is_first = False
                if kept is not None:
                    kept.is_followed = True
        return output

    def _put_hooks(self, result: Tensor, place: int, kept: moments.CoreCall | None, arrives: Any, node: Any) -> None:
        if kept is not None:
            result.register_hook(own_hook(partial(self._noted, kept.arrived, place)))
        if arrives is not None:
            node.register_prehook(own_hook(arrives))

    def _begins(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> moments.CoreCall | None:
        """The model is called. What the call needs to run again, if it is kept."""
        self._end_step()
        if not self._keeps:
            return None
        if self._has_run or len(self._kept) == MOST_CALLS:
            self._kept, self._has_run = [], False
        random, model = default_generator.get_state(), copy.deepcopy(self.model())
        args, kwargs = moments.without_history((args, kwargs))
        self._kept.append(moments.CoreCall(callers_place(), model, args, kwargs, random))
        return self._kept[-1]

    def _arrives(self, column: int, output: int, before: Once, grads: Sequence[Any]) -> None:
        grad, number = grads[output], max(1, self._begun)  # a stepper is counted as no pass
        if self.is_on and grad is not None and _is_backward() and before.is_new(self.count, number):
            array = grad.detach().numpy()
            self._table.put_one("norm", column, np.hypot(self._table.one("norm", column) or 0.0, norm_of(array)))
            self._table.put_one("largest", column, np.abs(array).max(initial=0))

    @contextmanager
    def _runs_backward(self, passing: Any, name: str, root: Any, *args: Any) -> Iterator[Any]:
        if self.model() is None:
            self.close()
        is_ours = name == "backward" and self.is_on
        if is_ours:
            self._arrivals.pass_begins([root])
            self._end_step()
        reached, self._begun = self._reached, self._begun + is_ours
        with passing(name, root, *args) as noted:
            yield noted
        is_own = self._reached > reached or not any(call.is_followed for call in self._kept)
        if is_ours and self._totals.counts(is_own):
            self._has_run = self._has_run or is_own
            if isinstance(root, Tensor) and root.numel() == 1:
                self._totals.loss = float(root.detach().item().real)

    def _noted(self, arrived: dict[int, Any], place: int, grad: Any) -> None:
        if _is_backward():
            arrived[place] = grad.detach()
            self._reached += 1

    def _clips(self, clipping: Any, factor: float) -> None:
        clipping(factor)
        self._totals.clip = factor

    def steps(self, stepping: Any, optimizer: Any) -> None:
        """An optimizer is about to step."""
        stepping(optimizer)
        columns = self._columns_of(optimizer)
        if not columns:
            return
        if any(k in self._before for k in columns):
            self._end_step()
        if optimizer not in self._optimizers:
            inputs = moments.tensors_in([(call.args, call.kwargs) for call in self._kept[:1]])
            note_settings(self.sink, optimizer, len(self._optimizers), self.rows.parameters, inputs, "")
            self._optimizers.add(optimizer)
        bad = self._measure(optimizer, columns)
        if changed := self._totals.note_rate(optimizer):
            self.sink.mark(self.count, "rate", changed)
        if self.before is not None:
            try:
                self.before(bad)
            except BaseException:  # it reaches the user
                self.flush()
                raise
        self._before |= {k: self.rows.parameters[k].detach().numpy().copy() for k in columns}

    def _scales(self, scaling: Any, optimizer: Any, scale: float, is_skipped: bool) -> None:
        scaling(optimizer, scale, is_skipped)
        columns = self._columns_of(optimizer)
        if columns and not self._totals.optimizers and self._totals.loss is not None:  # the first optimizer after the pass
            self._totals.loss /= scale
        if columns and is_skipped:
            self._measure(optimizer, columns)
            self.sink.mark(self.count, "skipped")

    def _columns_of(self, optimizer: Any) -> list[int]:
        everything = [p for group in optimizer.param_groups for p in group["params"]]
        return [self.rows.of_parameter[p] for p in everything if p in self.rows.of_parameter]

    def _measure(self, optimizer: Any, columns: list[int]) -> list[int]:
        """The gradients that an optimizer is about to use; the rows of those that are not finite."""
        self._totals.optimizers.append(optimizer)
        bad, grads = list[int](), [(k, self.rows.parameters[k].grad) for k in columns]
        for k, grad in [(k, g.detach().numpy()) for k, g in grads if g is not None]:
            is_finite = np.isfinite(grad).all()
            with np.errstate(all="ignore"):
                self._table.put_one("norm", k, norm_of(grad) if is_finite else np.inf)
                self._table.put_one("largest", k, np.abs(grad).max(initial=0))
            self._table.put_one("zeros", k, 1 - np.count_nonzero(grad) / max(1, grad.size))
            bad += [] if is_finite else [self.rows.at(k)]
        return sorted(bad)

    def what(self, row: int) -> str:
        """What the gradient of a row is: "nan" or "inf"."""
        grad = self.rows.parameters[self.rows.order[row]].grad
        return "nan" if bool(np.isnan(grad.detach().numpy()).any()) else "inf"

    def has_moved(self) -> bool:
        """Has an optimizer moved a weight in this step?"""
        return any(not np.array_equal(self.rows.parameters[k].detach().numpy(), was, True) for k, was in self._before.items())

    def _end_step(self) -> None:
        if not self._totals.optimizers:
            return
        with np.errstate(all="ignore"):
            for k, old in self._before.items():
                moved = norm_of(self.rows.parameters[k].detach().numpy() - old)
                self._table.put_one("update", k, np.divide(moved, norm_of(old)))
        waiting = self._table.end(self._totals.end())
        self._before, self._begun = {}, 0
        self.count += 1
        if waiting == BLOCK:
            self.sink.add(*self._table.take())
        self.after()

    def flush(self) -> None:
        """Hand all numbers over; a step that some optimizer has made is complete."""
        self._end_step()
        self.sink.add(*self._table.take())

    @property
    def has_pass(self) -> bool:
        """Can the last pass run again?"""
        return any(call.arrived for call in self._kept)

    def moment(self) -> moments.CoreMoment:
        """The last pass. RuntimeError: it cannot run again."""
        if calls := [call for call in self._kept if call.arrived]:
            return moments.CoreMoment(self.count, calls)
        why = "since it is watched, no gradient has reached a result of the model"
        why = "keep is 0" if not self._keeps else why if self.is_on else "the run is closed"
        raise RuntimeError(f"the pass of step {self.count} cannot run again: {why}")

    @contextmanager
    def opened(self, moment: moments.CoreMoment) -> Iterator[Again]:
        """A pass, computed again."""
        with self.aside():
            reached, leaves, inputs = moments.results_again(moment)
            yield Again(*one_root(reached, _vjp), leaves, reached, inputs)

    def note_probe(self, loss: float) -> None:
        """The loss of the probe batch, before the current step."""
        self._totals.probe = loss

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What runs inside is not the program's, and is not noted."""
        names, self._names = self._names, []
        for name in names:
            name.is_on = False
        try:
            with events.apart():
                yield
        finally:
            self._names = names
            for name in names:
                name.is_on = True


def norm_of(array: Any) -> float:
    """The Euclidean norm, in float64."""
    return float(np.sqrt(np.sum(np.square(np.abs(array), dtype=np.float64))))


def _is_backward() -> bool:
    """Is the pass that runs one of `backward`, not of `grad`?"""
    return GraphTask.current is not None and not GraphTask.current.captures


def _vjp(outputs: list[Any], grads: list[Any], wanted: Any) -> Any:
    """The gradient that reaches a tensor; no list of passes has this one."""
    edge = (wanted.grad_fn, wanted.output_nr)
    task = start(outputs, grads, True, False, captures=[edge])
    run(task)
    return task.captured.get(edge)
