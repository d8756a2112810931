"""Rates that fall or rise along a simple function of the epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler


class StepLR(LRScheduler):
    """Multiply the rate by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate, times gamma in some epochs."""
        return lr * self.gamma if epoch and epoch % self.step_size == 0 else lr


class MultiStepLR(LRScheduler):
    """Multiply the rate by `gamma` at each of the `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate, times gamma at a milestone."""
        return float(lr * self.gamma ** self.milestones.get(epoch, 0))


class ExponentialLR(LRScheduler):
    """Multiply the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate times gamma."""
        return lr * self.gamma if epoch else lr


class _ByFunction(LRScheduler):
    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        given = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * groups
        if len(given) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(given)}")
        self.lr_lambdas = given
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state without the functions."""
        return {**super().state_dict(), "lr_lambdas": [None] * len(self.lr_lambdas)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state, and keep the present functions."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})


class LambdaLR(_ByFunction):
    """The initial rate times a function of the epoch."""

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The initial rate times the function."""
        return float(self.base_lrs[i] * self.lr_lambdas[i](epoch))


class MultiplicativeLR(_ByFunction):
    """Multiply the rate every epoch by a function of the epoch."""

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate times the function."""
        return float(lr * self.lr_lambdas[i](epoch)) if epoch else lr


class ConstantLR(LRScheduler):
    """The rate times `factor` for `total_iters` epochs, then the initial rate."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate times the factor in the first epoch, divided by it at the end."""
        return lr * self.factor if epoch == 0 else lr / self.factor if epoch == self.total_iters else lr


class LinearLR(LRScheduler):
    """A factor that changes linearly from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        """The factor in an epoch."""
        return self.start_factor + (self.end_factor - self.start_factor) * min(epoch, self.total_iters) / self.total_iters

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The present rate, from the factors of the last epoch and this one."""
        if epoch > self.total_iters:
            return lr
        return lr * self.factor(epoch) / (self.factor(epoch - 1) if epoch else 1.0)


class PolynomialLR(LRScheduler):
    """A factor that falls from 1 to 0 in `total_iters` epochs, as a power of the remaining fraction."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The present rate, from the factors of the last epoch and this one."""
        left = self.total_iters - epoch
        return float(lr * (left / (left + 1)) ** self.power) if epoch and left >= 0 else lr
