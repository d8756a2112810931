"""Watches a model of autograd_viz while it is trained: the same numbers as of a PyTorch model (pytorch/run.py).

A kept pass runs again on a copy of the model, with the same inputs and random state.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..core.base import happened
from ..core.base.provenance import Place, callers_place
from ..core.tensor.random import default_generator
from ..core.tensor.tensor import Tensor
from .own_hooks import own_hook
from .replaced import Replaced
from .same_line import call_from, spot_of

BLOCK = 64  # steps
MOST = 32  # moments
NAMES = ("norm", "largest", "zeros", "update")


@dataclass
class CoreMoment:
    """A pass that can run again.

    Attributes:
        step: the step that it belongs to.
        at: the user's instruction that called the model.
        model: a copy of the model before the call.
        args, kwargs: of the call.
        random: the state of the random numbers before it.
        result: what the model returned, and the gradient that reached it.
    """

    step: int
    at: Place
    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    random: Any
    result: tuple[Any, list[Any]]


def trained(model: Any) -> list[tuple[str, Any]]:
    """The parameters that require grad, by path.

    Raises:
        ValueError: there is none.
    """
    found = [(path, p) for path, p in model.named_parameters() if p.requires_grad]
    if not found:
        raise ValueError("watch(model): no parameter of this model requires grad, so no gradient will arrive")
    return found


def core_rows(model: Any) -> list[tuple[str, str, str, int]]:
    """Path, kind, name and number of elements of each row."""
    return [(path, "parameter", path.rpartition(".")[2], p.numel()) for path, p in trained(model)]


class CoreMoments:
    """Chosen steps, in memory."""

    def __init__(self) -> None:
        self._moments = dict[int, CoreMoment]()

    @property
    def steps(self) -> list[int]:
        """The steps."""
        return list(self._moments)

    def keep(self, moment: CoreMoment) -> None:
        """Keep a moment. When there are more than `MOST`, every other one goes."""
        self._moments[moment.step] = moment
        if len(self._moments) > MOST:
            for step in self.steps[1:-1:2]:
                del self._moments[step]

    def at(self, step: int) -> CoreMoment:
        """The moment of a step.

        Raises:
            KeyError: it is not kept.
        """
        return self._moments[step]


class CoreRunWatch:
    """A run that is watched, as `pytorch.run.RunWatch`.

    Args:
        model: a module.
        sink: gets the numbers.
        keep: 0 keeps no pass.
    """

    def __init__(self, model: Any, sink: Any, keep: int) -> None:
        self.model, self.sink = model, sink
        self.parameters = trained(model)
        self.count, self.loss, self.is_on = 0, math.nan, True
        self.before: Callable[[list[int]], None] | None = None
        self.after: Callable[[], None] = lambda: None
        self.moments = CoreMoments()
        self._keeps, self._last = keep > 0, list[CoreMoment]()
        self._lines = dict[str, list[Any]]()
        self._row = {name: np.full(len(self.parameters), np.nan, np.float32) for name in NAMES}
        self._totals, self._before = np.full(5, np.nan), dict[int, Any]()
        self._stepped, self._rate, self._began = False, math.nan, perf_counter()
        self._names = [
            Replaced(happened, "passing", self._passes),
            Replaced(happened, "stepping", self._steps),
            Replaced(type(model), "forward", self._forward),
        ]

    def close(self) -> None:
        """Stop watching."""
        if self.is_on:
            self.is_on = False
            for name in self._names:
                name.undo()
            self.flush()
            self._last = []

    # -- a pass -------------------------------------------------------------------------------------------------------

    def _forward(self, forward: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        if model is not self.model or not self._keeps:
            return forward(model, *args, **kwargs)
        self._end_step()
        state = default_generator.get_state()
        moment = CoreMoment(self.count, callers_place(), copy.deepcopy(model), args, kwargs, state, (None, []))
        result = forward(model, *args, **kwargs)
        if isinstance(result, Tensor) and result.requires_grad:
            arrived = list[Any]()
            result.register_hook(own_hook(lambda grad: arrived.append(grad.detach())))
            moment.result = (result, arrived)
            self._last = [moment]
        return result

    def _passes(self, passing: Any, name: str, root: Any, *args: Any) -> Any:
        if name == "backward" and self.is_on:
            self._end_step()
            if isinstance(root, Tensor) and root.numel() == 1:
                self.loss = float(root.detach().item().real)
                self._totals[0] = self.loss
            self._totals[3] = np.nan_to_num(self._totals[3]) + 1
        return passing(name, root, *args)

    # -- a step -------------------------------------------------------------------------------------------------------

    def _steps(self, stepping: Any, optimizer: Any) -> None:
        stepping(optimizer)
        own = {p for group in optimizer.param_groups for p in group["params"]}
        held = [(k, p) for k, (_, p) in enumerate(self.parameters) if p in own]
        if not held:
            return
        if self._stepped and any(k in self._before for k, _ in held):
            self._end_step()
        bad = self._measure(held)
        self._note_rate(optimizer)
        self._stepped = True
        if self.before is not None:
            try:
                self.before(bad)
            except BaseException:  # it reaches the user
                self.flush()
                raise
        self._before |= {k: p.detach().numpy().copy() for k, p in held}

    def _measure(self, held: list[tuple[int, Any]]) -> list[int]:
        """The gradients that an optimizer is about to use; the rows of those that are not finite."""
        bad = []
        for k, p in held:
            if p.grad is None:
                continue
            grad = p.grad.detach().numpy()
            with np.errstate(all="ignore"):
                self._row["norm"][k], self._row["largest"][k] = _norm(grad), np.abs(grad).max(initial=0)
            self._row["zeros"][k] = 1 - np.count_nonzero(grad) / max(1, grad.size)
            if not np.isfinite(grad).all():
                bad.append(k)
                self._row["norm"][k] = np.inf
        return bad

    def _note_rate(self, optimizer: Any) -> None:
        now = float(optimizer.param_groups[0].get("lr", math.nan))
        if self._rate != now and not math.isnan(self._rate):
            self.sink.mark(self.count, "rate", f"{self._rate:.3g} → {now:.3g}")
        self._rate = self._totals[2] = now

    def what(self, row: int) -> str:
        """What the gradient of a row is: "nan" or "inf"."""
        return "nan" if bool(np.isnan(self.parameters[row][1].grad.detach().numpy()).any()) else "inf"

    def _end_step(self) -> None:
        if not self._stepped:
            return
        now = perf_counter()
        self._totals[4], self._began = now - self._began, now
        with np.errstate(all="ignore"):
            for k, old in self._before.items():
                self._row["update"][k] = np.divide(_norm(self.parameters[k][1].detach().numpy() - old), _norm(old))
        self._before = {}
        for name, values in {**self._row, "totals": self._totals}.items():
            self._lines.setdefault(name, []).append(values.copy())
            values[:] = np.nan
        self._stepped = False
        self.count += 1
        if self.count % BLOCK == 0:
            self._hand_over()
        self.after()

    def flush(self) -> None:
        """Hand all numbers over; a step that some optimizer has made is complete."""
        self._end_step()
        self._hand_over()

    def _hand_over(self) -> None:
        if self._lines:
            blocks = {name: np.stack(lines) for name, lines in self._lines.items()}
            self.sink.add({name: (block, ~np.isnan(block)) for name, block in blocks.items()})
            self._lines = {}

    # -- a pass again -------------------------------------------------------------------------------------------------

    @property
    def has_pass(self) -> bool:
        """Can the last pass run again?"""
        return bool(self._last and self._last[0].result[1])

    def moment(self) -> CoreMoment:
        """The last pass.

        Raises:
            RuntimeError: it cannot run again.
        """
        if not self._keeps:
            raise RuntimeError("the pass cannot run again: keep is 0")
        if not self.has_pass:
            raise RuntimeError("the pass cannot run again: no gradient has reached a result of the model")
        return self._last[0]

    @contextmanager
    def opened(self, moment: CoreMoment) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """The model's result, computed again, the gradient that arrived, and the parameters of the copy by name."""
        names, self._names = self._names, []
        for name in names:
            name.pause()
        state = default_generator.get_state()
        try:
            model = copy.deepcopy(moment.model)
            for p in model.parameters():
                p.grad = None
            default_generator.set_state(moment.random)
            result = call_from(spot_of(*moment.at), model, *moment.args, **moment.kwargs)
            default_generator.set_state(state)
            yield result, moment.result[1][-1], dict(model.named_parameters())
        finally:
            default_generator.set_state(state)
            self._names = names
            for name in names:
                name.go_on()


def _norm(array: Any) -> float:
    """The Euclidean norm, in float64."""
    return float(np.sqrt(np.sum(np.square(np.abs(array), dtype=np.float64))))
