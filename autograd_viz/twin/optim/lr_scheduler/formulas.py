"""Rates along a function of the epoch: steps, powers, lines, cosines, cycles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import refuse_if
from ..optimizer import Optimizer
from .scheduler import LRScheduler, per_group


class StepLR(LRScheduler):
    """Multiply the rate by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        return lr * self.gamma if epoch and epoch % self.step_size == 0 else lr


class MultiStepLR(LRScheduler):
    """Multiply the rate by `gamma` at each of the `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        return float(lr * self.gamma ** self.milestones.get(epoch, 0))


class ExponentialLR(LRScheduler):
    """Multiply the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        return lr * self.gamma if epoch else lr


class _ByFunction(LRScheduler):
    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        given = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * groups
        refuse_if(len(given) != groups, lambda: f"Expected {groups} lr_lambdas, but got {len(given)}", ValueError)
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

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        return float(self.base_lrs[i] * self.lr_lambdas[i](epoch))


class MultiplicativeLR(_ByFunction):
    """Multiply the rate every epoch by a function of the epoch."""

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        return float(lr * self.lr_lambdas[i](epoch)) if epoch else lr


class ConstantLR(LRScheduler):
    """The rate times `factor` for `total_iters` epochs, then the initial rate."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        refuse_if(not 0 <= factor <= 1, "Constant multiplicative factor expected to be between 0 and 1.", ValueError)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        return lr * self.factor if epoch == 0 else lr / self.factor if epoch == self.total_iters else lr


class LinearLR(LRScheduler):
    """A factor that changes linearly from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        refuse_if(not 0 <= end_factor <= 1, "Ending multiplicative factor expected to be between 0 and 1.", ValueError)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, epoch: int) -> float:
        """The factor in an epoch."""
        return self.start_factor + (self.end_factor - self.start_factor) * min(epoch, self.total_iters) / self.total_iters

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        if epoch > self.total_iters:
            return lr
        return lr * self.factor(epoch) / (self.factor(epoch - 1) if epoch else 1.0)


class PolynomialLR(LRScheduler):
    """A factor that falls from 1 to 0 in `total_iters` epochs, as a power of the remaining fraction."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        left = self.total_iters - epoch
        return float(lr * (left / (left + 1)) ** self.power) if epoch and left >= 0 else lr


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave, from the initial rate down to `eta_min` in `T_max` epochs."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        if epoch == 0:
            return lr
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the minimum a ratio is undefined
            return float(lr + (self.base_lrs[i] - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2)
        return self._height(epoch) / self._height(epoch - 1) * (lr - self.eta_min) + self.eta_min


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine wave, repeated. Each is `T_mult` times as long as the one before."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        refuse_if(T_0 <= 0 or not isinstance(T_0, int), lambda: f"Expected positive integer T_0, but got {T_0}", ValueError)
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def _lr_after(self, i: int, lr: float, epoch: float) -> float:
        length, inside = self.T_0, epoch
        while inside >= length:
            inside, length = inside - length, length * self.T_mult
        return float(self.eta_min + (self.base_lrs[i] - self.eta_min) * (1 + math.cos(math.pi * inside / length)) / 2)

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to `epoch`, which may be a fraction."""
        if epoch is None:
            super().step()
            return
        self._step_count += 1
        self.last_epoch = math.floor(epoch)
        self._set([self._lr_after(i, 0.0, epoch) for i in range(len(self.base_lrs))])


class _WithMomentum(LRScheduler):
    """Schedules that move the momentum opposite to the rate."""

    use_beta1 = False

    def _find_momentum(self, optimizer: Optimizer, what: str) -> None:
        if not ("momentum" in optimizer.defaults or "betas" in optimizer.defaults):
            raise ValueError(f"optimizer must support momentum or beta1 with `{what}` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """Linear cycles between two rates. The peaks may become lower."""

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.max_lrs, self.mode, self.gamma = per_group(max_lr, optimizer), mode, gamma
        self.total_size = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = step_size_up / self.total_size
        self._scale_fn, self.scale_mode = scale_fn, scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        self.base_momentums, self.max_momentums = per_group(base_momentum, optimizer), per_group(max_momentum, optimizer)
        if cycle_momentum:
            self._find_momentum(optimizer, "cycle_momentum")
        for group, lr in zip(optimizer.param_groups, per_group(base_lr, optimizer), strict=True):
            if last_epoch == -1:
                group["lr"] = group["initial_lr"] = lr
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """The height of the peak, from the number of the cycle or the epoch."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        return float({"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1), "exp_range": self.gamma**x}[self.mode])

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        cycle = math.floor(1 + epoch / self.total_size)
        x = 1.0 + epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else epoch)
        if self.cycle_momentum:
            low, high = self.base_momentums[i], self.max_momentums[i]
            self._set_momentum(self.optimizer.param_groups[i], high - (high - low) * height)
        return float(self.base_lrs[i] + (self.max_lrs[i] - self.base_lrs[i]) * height)


class OneCycleLR(_WithMomentum):
    """One rise and one fall, which ends far below the initial rate."""

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True,
        base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self.total_steps = total_steps if total_steps is not None else int(epochs or 0) * int(steps_per_epoch or 0)
        if self.total_steps <= 0:
            raise ValueError(f"Expected positive integer total_steps, but got {self.total_steps}")
        refuse_if(not 0 <= pct_start <= 1, lambda: f"Expected float between 0 and 1 pct_start, but got {pct_start}", ValueError)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_strategy, self.cycle_momentum = anneal_strategy, cycle_momentum
        up, end = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        # each phase: its end, its first and last rate (0 initial, 1 highest, 2 lowest)
        self.phases = [(up, 0, 1), (2 * up, 1, 0), (end, 0, 2)] if three_phase else [(up, 0, 1), (end, 1, 2)]
        self.rates = [(n / div_factor, n, n / div_factor / final_div_factor) for n in per_group(max_lr, optimizer)]
        self.momentums = list(zip(per_group(max_momentum, optimizer), per_group(base_momentum, optimizer), strict=True))
        if cycle_momentum:
            self._find_momentum(optimizer, "cycle_momentum")
        for group, rates in zip(optimizer.param_groups, self.rates, strict=True):
            if last_epoch == -1:
                group["initial_lr"], group["max_lr"], group["min_lr"] = rates
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, share: float) -> float:
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share)) if self.anneal_strategy == "cos" else (
            (end - start) * share + start)  # fmt: skip

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        if epoch > self.total_steps:
            raise ValueError(f"Tried to step {epoch} times. The total number of steps is {self.total_steps}")
        turn = next((k for k, (end, _, _) in enumerate(self.phases) if epoch <= end), len(self.phases) - 1)
        begin, (end, a, b) = self.phases[turn - 1][0] if turn else 0.0, self.phases[turn]
        share = (epoch - begin) / (end - begin)
        if self.cycle_momentum:
            at = self.momentums[i]
            self._set_momentum(self.optimizer.param_groups[i], self._between(at[a == 1], at[b == 1], share))
        return self._between(self.rates[i][a], self.rates[i][b], share)
