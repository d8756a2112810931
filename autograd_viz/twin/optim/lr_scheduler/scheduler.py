"""The base class of all learning rate schedules."""

from __future__ import annotations

import types
import warnings
from typing import Any

from ..optimizer import Optimizer

ORDER_WARNING = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the "
    "opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the "
    "first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


class LRScheduler:
    """Sets the learning rate of each group, first in its constructor.

    Args:
        optimizer: the optimizer whose rates it sets.
        last_epoch: -1 to start, or the epoch to continue from.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._last_lr: list[float] = []
        self._initial_step()

    def _initial_step(self) -> None:
        self._first_steps, self._step_count = self.optimizer._steps, 0
        self.step()

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate of group `i` in `epoch`, given its rate in the epoch before (in epoch 0: the initial rate)."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The rates of this epoch, computed from the present rates of the groups."""
        return [self.lr_after(i, g["lr"], self.last_epoch) for i, g in enumerate(self.optimizer.param_groups)]

    def _rates_of(self, epoch: int) -> list[float]:
        """The rates of any epoch, computed epoch by epoch."""
        rates = list(self.base_lrs)
        for e in range(epoch + 1):
            rates = [self.lr_after(i, lr, e) for i, lr in enumerate(rates)]
        return rates

    def get_last_lr(self) -> list[float]:
        """The rates that were last set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to `epoch`, and set its rates."""
        if self._step_count == 1 and self.optimizer._steps == self._first_steps:
            warnings.warn(ORDER_WARNING, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            self._set(self.get_lr())
        else:
            self.last_epoch = epoch
            self._set(self._rates_of(epoch))

    def _set(self, rates: list[float]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr
        self._last_lr = list(rates)

    def state_dict(self) -> dict[str, Any]:
        """Everything except the optimizer and functions."""
        kept = {k: v for k, v in vars(self).items() if k != "optimizer"}
        return {k: v for k, v in kept.items() if not isinstance(v, types.FunctionType)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        vars(self).update(state_dict)


def per_group(value: Any, optimizer: Optimizer) -> list[Any]:
    """One value for each group of parameters."""
    return list(value) if isinstance(value, list | tuple) else [value] * len(optimizer.param_groups)
