"""Rates that rise and fall, with a momentum that moves in the opposite direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, per_group


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

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate on the triangle at this epoch."""
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
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_strategy, self.cycle_momentum = anneal_strategy, cycle_momentum
        up, end = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        # each phase: its end, its first and last rate (0 initial, 1 highest, 2 lowest)
        self.phases = [(up, 0, 1), (2 * up, 1, 0), (end, 0, 2)] if three_phase else [(up, 0, 1), (end, 1, 2)]
        tops = per_group(max_lr, optimizer)
        self.rates = [(top / div_factor, top, top / div_factor / final_div_factor) for top in tops]
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

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The rate at this epoch of its phase."""
        if epoch > self.total_steps:
            raise ValueError(f"Tried to step {epoch} times. The total number of steps is {self.total_steps}")
        turn = next((k for k, (end, _, _) in enumerate(self.phases) if epoch <= end), len(self.phases) - 1)
        begin, (end, a, b) = self.phases[turn - 1][0] if turn else 0.0, self.phases[turn]
        share = (epoch - begin) / (end - begin)
        if self.cycle_momentum:
            at = self.momentums[i]
            self._set_momentum(self.optimizer.param_groups[i], self._between(at[a == 1], at[b == 1], share))
        return self._between(self.rates[i][a], self.rates[i][b], share)
