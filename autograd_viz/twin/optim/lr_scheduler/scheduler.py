"""The base class of all learning rate schedules; a schedule that watches a metric; schedules of schedules."""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ...core.tensor import refuse_if
from ..optimizer import Optimizer

ORDER_WARNING = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the "
    "opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the "
    "first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


class LRScheduler:
    """Sets the learning rate of each group, first in its constructor. `last_epoch`: -1, or the one to continue from."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        refuse_if(not isinstance(optimizer, Optimizer), lambda: f"{type(optimizer).__name__} is not an Optimizer", TypeError)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch, self._step_count = last_epoch, 0
        self._last_lr: list[float] = []
        self._initial_step()

    def _initial_step(self) -> None:
        self._first_steps, self._step_count = self.optimizer._steps, 0
        self.step()

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate of group `i` in `epoch`, given its rate in the epoch before (in epoch 0: the initial rate)."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The rates of this epoch, computed from the present rates of the groups."""
        return [self._lr_after(i, g["lr"], self.last_epoch) for i, g in enumerate(self.optimizer.param_groups)]

    def _rates_of(self, epoch: int) -> list[float]:
        """The rates of any epoch, computed epoch by epoch."""
        rates = list(self.base_lrs)
        for e in range(epoch + 1):
            rates = [self._lr_after(i, lr, e) for i, lr in enumerate(rates)]
        return rates

    def get_last_lr(self) -> list[float]:
        """The rates that were last set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to `epoch`, and set its rates."""
        if self._step_count == 1 and self.optimizer._steps == self._first_steps:
            warnings.warn(ORDER_WARNING, UserWarning, stacklevel=2)
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set(self.get_lr() if epoch is None else self._rates_of(epoch))

    def _set(self, rates: list[float]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        self._last_lr = list(rates)

    def state_dict(self) -> dict[str, Any]:
        """Everything except the optimizer and functions."""
        return {k: v for k, v in vars(self).items() if k != "optimizer" and not isinstance(v, types.FunctionType)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        vars(self).update(state_dict)


def per_group(value: Any, optimizer: Optimizer) -> list[Any]:
    """One value for each group of parameters."""
    return list(value) if isinstance(value, list | tuple) else [value] * len(optimizer.param_groups)


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by `factor` after more than `patience` epochs without improvement: ``step(loss)``."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        refuse_if(factor >= 1.0, "Factor should be < 1.0.", ValueError)
        refuse_if(mode not in ("min", "max"), lambda: f"mode {mode} is unknown!", ValueError)
        refuse_if(threshold_mode not in ("rel", "abs"), lambda: f"threshold mode {threshold_mode} is unknown!", ValueError)
        refuse_if(not isinstance(optimizer, Optimizer), lambda: f"{type(optimizer).__name__} is not an Optimizer", TypeError)
        self.optimizer, self.factor, self.patience, self.eps = optimizer, factor, patience, eps
        self.min_lrs, self.cooldown, self.cooldown_counter = per_group(min_lr, optimizer), cooldown, 0
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.best, self.num_bad_epochs, self.last_epoch = math.inf if mode == "min" else -math.inf, 0, 0
        self._last_lr = [g["lr"] for g in optimizer.param_groups]

    def is_better(self, a: float, best: float) -> bool:
        """Is `a` better by more than the threshold?"""
        sign = -1 if self.mode == "min" else 1
        bound = best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return a < bound if self.mode == "min" else a > bound

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Report the metric of this epoch."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        better = self.is_better(current, self.best)
        self.best, self.num_bad_epochs = (current, 0) if better else (self.best, self.num_bad_epochs + 1)
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                new = max(group["lr"] * self.factor, least)
                if group["lr"] - new > self.eps:
                    group["lr"] = new
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = [g["lr"] for g in self.optimizer.param_groups]


class _Composed(LRScheduler):
    _schedulers: Sequence[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """The state, with the states of the schedules."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state into these schedules."""
        for s, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            s.load_state_dict(state)
        super().load_state_dict({**state_dict, "_schedulers": self._schedulers})


class SequentialLR(_Composed):
    """One schedule after the other. The next one starts at its milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, schedulers, milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for s in schedulers:
            s.last_epoch -= 1  # undo the step that each made in its constructor
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Step the present schedule."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Composed):
    """Several schedules at once. Each changes the rates that the others set."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self._schedulers = schedulers
        self.optimizer = optimizer if optimizer is not None else schedulers[0].optimizer
        self._last_lr = [g["lr"] for g in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Step all of them."""
        for s in self._schedulers:
            s.step()
        self._last_lr = [g["lr"] for g in self.optimizer.param_groups]
