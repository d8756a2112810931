"""Rates along a cosine, once or repeatedly."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .scheduler import LRScheduler


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave, from the initial rate down to `eta_min` in `T_max` epochs."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The present rate, computed from the last one."""
        if epoch == 0:
            return lr
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the minimum a ratio is undefined
            return float(lr + (self.base_lrs[i] - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2)
        return self._height(epoch) / self._height(epoch - 1) * (lr - self.eta_min) + self.eta_min


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine wave, repeated. Each is `T_mult` times as long as the one before."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: float) -> float:
        """The rate in the present wave. The epoch may be a fraction."""
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
        self._set([self.lr_after(i, 0.0, epoch) for i in range(len(self.base_lrs))])
