"""Watches a model while it is trained: the numbers of each step, at a price at which it can stay on."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import torch

from ...shared.replacement import closure_proxy, own_hook
from ...shared.run.results import Again, Arrivals, Once, one_root
from ...shared.run.table import ELSEWHERE, Rows, Sink, note_settings
from ..reading.nodes import grad_fn_of, is_leaf
from ..reading.older import is_dynamo_compiling
from ..reading.values import outside_modes
from ..recording.watch import own_code, watch_outside
from .again import LastCalls, Moment, Moments, results_again, tensors_in, vjp
from .hooks import hooks_of
from .numbers import real, update_ratios, without_grad
from .steps import OptimizerPart, Steps, part_of


class RunWatch:
    """A run that is watched. It does not hold its model, and ends with it.

    `keep`: bytes for copies of parameters and inputs, to run the last pass again. Ranks of a job have full steps together.
    """

    @own_code()
    def __init__(self, model: torch.nn.Module, rows: Rows, sink: Sink, keep: int, *, is_rank: bool = False) -> None:
        self.model, self.rows = weakref.ref(model), rows
        self.steps, self.arrivals = Steps(rows, sink, is_rank=is_rank), Arrivals(grad_fn_of, is_leaf)
        self.kept = LastCalls(model, rows.parameters, keep, self.arrivals)  # the calls of the last pass
        self.before: Callable[[list[int]], None] | None = None  # called before a step, with not finite rows; it may raise
        self.after: Callable[[], None] = lambda: None  # called when a step is complete
        self.faults: list[Exception] = []  # errors in here; the user's program did not notice them
        self.moments = Moments()  # chosen steps
        self._parts: weakref.WeakKeyDictionary[Any, OptimizerPart] = weakref.WeakKeyDictionary()
        self._scaler: Any = None
        self._is_in_closure = self._is_again = False  # an optimizer runs the user's closure, and has done so in this step
        self._thread = threading.get_ident()
        self._recorder = watch_outside()
        self._hooks: ExitStack | None = hooks_of(self)

    @property
    def is_on(self) -> bool:
        """Is the model watched?"""
        return self._hooks is not None

    def close(self) -> None:
        """Stop watching."""
        if self._hooks is not None:
            self._hooks.close()
            self._hooks = None
            self._recorder.run_ends()
            self.flush()
            self.kept.let_go()

    def flush(self) -> None:
        """Hand all numbers over; a step that some optimizer has made is complete."""
        self._end_step()
        self.steps.flush()

    def _end_step(self) -> None:
        if self.steps.totals.optimizers and not self._is_in_closure:
            self._apart(self.steps.end, self.after)

    @property
    def count(self) -> int:
        """How many steps are complete."""
        return self.steps.count

    @property
    def loss(self) -> float:
        """The loss of the current step; nan if it is unknown."""
        return self.steps.loss

    @property
    def has_pass(self) -> bool:
        """Can the last pass run again?"""
        return bool(self.kept.calls) and not self.kept.why_not

    @own_code()
    def moment(self) -> Moment:
        """The last pass. RuntimeError: it cannot run again; the message says why."""
        return self.kept.moment(self.count)

    @contextmanager
    def opened(self, moment: Moment) -> Iterator[Again]:
        """A pass, computed again under a recording. RuntimeError: no gradient reached a result of the model."""
        with self.aside():
            reached, leaves, inputs = results_again(self.model(), moment, self.rows.parameters)
            yield Again(*one_root(reached, vjp), leaves, reached, inputs)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What runs inside is not the program's, and is not noted."""
        hooks = self._hooks
        if hooks is not None:
            hooks.close()
        try:
            with own_code():
                yield
        finally:
            if hooks is not None:
                self._hooks = hooks_of(self)

    def note_probe(self, loss: float) -> None:
        """The loss of the probe batch, before the current step."""
        self.steps.totals.probe = loss

    # -- a forward pass -----------------------------------------------------------------------------------------------

    def calls(self, call: Any, module: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A module is called."""
        column = self.rows.of_module.get(module)
        if column is None or threading.get_ident() != self._thread:
            return call(module, *args, **kwargs)
        if module is self.model() and torch.is_grad_enabled():
            self._end_step()
            self._apart(self.kept.enters, args, kwargs)
        if module is self.model():
            output = self._recorder.calls(partial(call, module), module, self.rows.parameters, args, kwargs)
            self._apart(self.kept.leaves, output)
        else:
            output = call(module, *args, **kwargs)
        if self.steps.is_full:
            self._apart(self._follow, column, output)
        return output

    def _follow(self, column: int, output: object) -> None:
        result = next((r for r in tensors_in(output) if not is_leaf(r)), None)
        if result is None:
            return
        nr, before = result.output_nr, Once()

        def arrives(grads: Sequence[Any]) -> None:
            is_measured = self.steps.is_full and self.is_on and self.kept.counts and grads[nr] is not None
            if is_measured and before.is_new(self.steps.count, self.steps.totals.passes):
                self._apart(self.steps.arrived, column, grads[nr])

        self.arrivals.follow(result, lambda node: node.register_prehook(own_hook(arrives)))

    # -- a backward pass ----------------------------------------------------------------------------------------------

    def runs_backward(self, run: Any, roots: Any, *args: Any, **kwargs: Any) -> Any:
        """A pass runs."""
        if self.model() is None:
            self.close()
        is_here = threading.get_ident() == self._thread
        is_ours = is_here and bool(kwargs.get("accumulate_grad"))
        if is_ours:
            self._end_step()
            self._apart(self.arrivals.pass_begins, roots)
        reached = self.kept.reached
        was, self.kept.counts = self.kept.counts, is_ours if is_here else self.kept.counts
        try:
            result = run(roots, *args, **kwargs)
        finally:
            self.kept.counts = was
        if is_ours:
            self._apart(self.steps.note_pass, roots, self.kept.has_run(reached))
        return result

    def clips(self, clip: Any, parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
        """Gradients are clipped by a function that returns their norm, or is given it."""
        if not isinstance(parameters, torch.Tensor):
            parameters = list(parameters)  # a generator is read once
        result = clip(parameters, max_norm, *args, **kwargs)
        total = args[0] if result is None else result
        self._apart(lambda: self.steps.note_clip(torch.clamp(float(max_norm) / (real(total) + 1e-6), max=1.0)))
        return result

    # -- a step -------------------------------------------------------------------------------------------------------

    def scaler_steps(self, step: Any, scaler: Any, optimizer: object, *args: Any, **kwargs: Any) -> Any:
        """A gradient scaler steps an optimizer, or leaves it out."""
        before, self._scaler = len(self.steps.totals.optimizers), scaler
        try:
            result = step(scaler, optimizer, *args, **kwargs)
            if len(self.steps.totals.optimizers) == before and self._part_of(optimizer).parameters:
                self._apart(self._skipped, optimizer)
            return result
        finally:
            self._scaler = None

    @torch.no_grad()
    def _skipped(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps.totals.optimizers.append(optimizer)
        self.steps.measure(self._part_of(optimizer))
        self.steps.unscale_loss(self._scaler._scale)
        self.steps.sink.mark(self.steps.count, "skipped")

    def step_begins(self, optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An optimizer is about to step. If a closure runs the pass inside of the step, its end is the moment to look."""
        if is_dynamo_compiling() or threading.get_ident() != self._thread:
            self._apart(self._steps_elsewhere, optimizer)
            return None
        self._is_in_closure = False
        with_closure = closure_proxy(args, kwargs, lambda: self._about_to_step(optimizer))
        if with_closure is None:
            self._about_to_step(optimizer)
            return None
        self._end_step()
        self._is_in_closure = True
        return with_closure

    def _steps_elsewhere(self, optimizer: torch.optim.Optimizer) -> None:
        if not is_dynamo_compiling() and self._part_of(optimizer).parameters:
            self.steps.sink.mark(self.steps.count, ELSEWHERE)

    def _about_to_step(self, optimizer: torch.optim.Optimizer) -> None:
        began = perf_counter()
        bad = self._apart(self._before_step, optimizer)
        self.steps.spent += perf_counter() - began
        if self.before is not None and bad is not None:
            try:
                self.before(bad)
            except BaseException:  # it reaches the user
                self._is_in_closure = False
                self.flush()
                raise

    @without_grad
    def _before_step(self, optimizer: object) -> list[int] | None:
        part = self._part_of(optimizer)
        if not part.parameters:
            return None
        is_again = optimizer in self.steps.totals.optimizers
        if is_again and not self._is_in_closure:
            self._end_step()
            is_again = False
        self._is_again = is_again
        if not is_again:
            self.steps.totals.optimizers.append(optimizer)
        self.steps.measure(part)
        self.steps.note_rate(optimizer)
        self.kept.before_step()
        return [] if getattr(optimizer, "found_inf", None) is not None else self.steps.not_finite()

    def step_ends(self, optimizer: torch.optim.Optimizer, args: object, kwargs: object) -> None:
        """An optimizer has stepped."""
        self._is_in_closure = False
        if is_dynamo_compiling() or threading.get_ident() != self._thread:
            return
        if self._scaler is not None:
            self._apart(lambda: self.steps.unscale_loss(self._scaler._scale))
        if self.steps.is_full:
            began = perf_counter()
            self._apart(self._after_step, self._parts.get(optimizer))
            self.steps.spent += perf_counter() - began

    @torch.no_grad()
    def _after_step(self, part: OptimizerPart | None) -> None:
        if part is not None and part.parameters and self.kept.parameters:
            before = [self.kept.parameters[self.rows.of_parameter[p]] for p in part.parameters]
            self.steps.put("update", part.columns, update_ratios(before, part.parameters))

    def _part_of(self, optimizer: Any) -> OptimizerPart:
        known = self._parts.get(optimizer)
        if known is None or known.total != sum(len(g["params"]) for g in optimizer.param_groups):
            place = len(self._parts)
            known = self._parts[optimizer] = part_of(optimizer, self.rows)
            if known.parameters:
                self._apart(self._note_settings, optimizer, place)
        return known

    def _note_settings(self, optimizer: Any, place: int) -> None:
        calls = self.kept.calls[:1]
        inputs = [t for call in calls for t in tensors_in((*call.args, call.kwargs))]
        cast = next((str(call.cast[1]).rpartition(".")[2] for call in calls if call.cast and call.cast[1]), "")
        note_settings(self.steps.sink, optimizer, place, self.rows.parameters, inputs, cast)

    def what(self, row: int) -> str:
        """What the gradient of a row is in this step: "nan" or "inf"."""
        grad = self.rows.parameters[self.rows.order[row]].grad
        return "nan" if self._apart(lambda: bool(real(grad).isnan().any())) else "inf"

    def has_moved(self) -> bool:
        """Has an optimizer moved a weight in this step?"""
        return self._is_again or bool(self._apart(self.kept.has_moved, len(self.steps.totals.optimizers) > 1))

    def _apart(self, act: Any, *args: Any) -> Any:
        """What an act gives, or None if it fails. Nothing in here breaks the user's program, and no mode of it sees it."""
        try:
            with torch._C.DisableTorchFunction(), outside_modes():
                return act(*args)
        except Exception as error:
            self.faults = [*self.faults[-9:], error]
            return None
