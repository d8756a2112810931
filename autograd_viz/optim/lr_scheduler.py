"""Learning rate schedules: the rate as a function of how often `step` was called.

Most say how the next rate follows from the present one (`lr_after`), so that schedules can be combined: each changes what the
others left.
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer

ORDER_WARNING = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the "
    "opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the "
    "first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


class LRScheduler:
    """Sets the learning rate of every group; the first time when it is made.

    Args:
        optimizer: whose rates it sets.
        last_epoch: -1 to begin, or the epoch to go on from.
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
        """The rate of group `i` in `epoch`, if it was `lr` in the epoch before (in epoch 0: the initial rate)."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The rates of this epoch, from those that the groups have."""
        return [self.lr_after(i, g["lr"], self.last_epoch) for i, g in enumerate(self.optimizer.param_groups)]

    def _rates_of(self, epoch: int) -> list[float]:
        """The rates of any epoch: all epochs up to it, one after the other."""
        rates = list(self.base_lrs)
        for e in range(epoch + 1):
            rates = [self.lr_after(i, lr, e) for i, lr in enumerate(rates)]
        return rates

    def get_last_lr(self) -> list[float]:
        """The rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch (or to `epoch`) and set its rates."""
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
        """Everything but the optimizer; functions are left out."""
        kept = {k: v for k, v in vars(self).items() if k != "optimizer"}
        return {k: v for k, v in kept.items() if not isinstance(v, types.FunctionType)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        vars(self).update(state_dict)


class StepLR(LRScheduler):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """Now and then times gamma."""
        return lr * self.gamma if epoch and epoch % self.step_size == 0 else lr


class MultiStepLR(LRScheduler):
    """Times `gamma` at each of the `milestones`."""

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """Times gamma at a milestone."""
        return float(lr * self.gamma ** self.milestones[epoch])


class ExponentialLR(LRScheduler):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """Times gamma."""
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
        """Without the functions."""
        return {**super().state_dict(), "lr_lambdas": [None] * len(self.lr_lambdas)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """With the functions that are here."""
        super().load_state_dict({**state_dict, "lr_lambdas": self.lr_lambdas})


class LambdaLR(_ByFunction):
    """The initial rate times a function of the epoch."""

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """The initial rate times the function."""
        return float(self.base_lrs[i] * self.lr_lambdas[i](epoch))


class MultiplicativeLR(_ByFunction):
    """Every epoch times a function of the epoch."""

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """Times the function."""
        return float(lr * self.lr_lambdas[i](epoch)) if epoch else lr


class ConstantLR(LRScheduler):
    """The rate times `factor` for `total_iters` epochs, then the rate itself."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """Times the factor at first, back at the end."""
        return lr * self.factor if epoch == 0 else lr / self.factor if epoch == self.total_iters else lr


class LinearLR(LRScheduler):
    """A factor that moves on a straight line from `start_factor` to `end_factor` in `total_iters` epochs."""

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
        """The factor of an epoch."""
        return self.start_factor + (self.end_factor - self.start_factor) * min(epoch, self.total_iters) / self.total_iters

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """From the last factor to this one."""
        if epoch > self.total_iters:
            return lr
        return lr * self.factor(epoch) / (self.factor(epoch - 1) if epoch else 1.0)


class PolynomialLR(LRScheduler):
    """A factor that falls from 1 to 0 in `total_iters` epochs, as a power of what is left."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """From the last factor to this one."""
        left = self.total_iters - epoch
        return float(lr * (left / (left + 1)) ** self.power) if epoch and left >= 0 else lr


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the rate down to `eta_min` in `T_max` epochs."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """From the last height of the wave to this one."""
        if epoch == 0:
            return lr
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # it was at the bottom, where a ratio says nothing
            return float(lr + (self.base_lrs[i] - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2)
        return self._height(epoch) / self._height(epoch - 1) * (lr - self.eta_min) + self.eta_min


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine wave again and again, each `T_mult` times as long as the one before."""

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def lr_after(self, i: int, lr: float, epoch: float) -> float:
        """The height of the present wave; the epoch may be a fraction."""
        length, inside = self.T_0, epoch
        while inside >= length:
            inside, length = inside - length, length * self.T_mult
        return float(self.eta_min + (self.base_lrs[i] - self.eta_min) * (1 + math.cos(math.pi * inside / length)) / 2)

    def step(self, epoch: float | None = None) -> None:
        """Go on; to a fraction of an epoch if given."""
        if epoch is None:
            super().step()
            return
        self._step_count += 1
        self.last_epoch = math.floor(epoch)
        self._set([self.lr_after(i, 0.0, epoch) for i in range(len(self.base_lrs))])


def _per_group(value: Any, optimizer: Optimizer) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value] * len(optimizer.param_groups)


class _WithMomentum(LRScheduler):
    """Schedules that move the momentum against the rate."""

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
    """Up and down between two rates on straight lines, the peaks perhaps lower each time."""

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.max_lrs, self.mode, self.gamma = _per_group(max_lr, optimizer), mode, gamma
        self.total_size = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.step_ratio = step_size_up / self.total_size
        self._scale_fn, self.scale_mode = scale_fn, scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        self.base_momentums, self.max_momentums = _per_group(base_momentum, optimizer), _per_group(max_momentum, optimizer)
        if cycle_momentum:
            self._find_momentum(optimizer, "cycle_momentum")
        for group, lr in zip(optimizer.param_groups, _per_group(base_lr, optimizer), strict=True):
            if last_epoch == -1:
                group["lr"] = group["initial_lr"] = lr
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """How high the peak is: of the cycle's number, or of the epoch."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        return float({"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1), "exp_range": self.gamma**x}[self.mode])

    def lr_after(self, i: int, lr: float, epoch: int) -> float:
        """Where on the triangle the epoch is."""
        cycle = math.floor(1 + epoch / self.total_size)
        x = 1.0 + epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else epoch)
        if self.cycle_momentum:
            low, high = self.base_momentums[i], self.max_momentums[i]
            self._set_momentum(self.optimizer.param_groups[i], high - (high - low) * height)
        return float(self.base_lrs[i] + (self.max_lrs[i] - self.base_lrs[i]) * height)


class OneCycleLR(_WithMomentum):
    """Once up and once down, far below where it began."""

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
        # each phase: where it ends, from which rate to which (0 initial, 1 highest, 2 lowest)
        self.phases = [(up, 0, 1), (2 * up, 1, 0), (end, 0, 2)] if three_phase else [(up, 0, 1), (end, 1, 2)]
        tops = _per_group(max_lr, optimizer)
        self.rates = [(top / div_factor, top, top / div_factor / final_div_factor) for top in tops]
        self.momentums = list(zip(_per_group(max_momentum, optimizer), _per_group(base_momentum, optimizer), strict=True))
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
        """Where in its phase the epoch is."""
        if epoch > self.total_steps:
            raise ValueError(f"Tried to step {epoch} times. The total number of steps is {self.total_steps}")
        turn = next((k for k, (end, _, _) in enumerate(self.phases) if epoch <= end), len(self.phases) - 1)
        begin, (end, a, b) = self.phases[turn - 1][0] if turn else 0.0, self.phases[turn]
        share = (epoch - begin) / (end - begin)
        if self.cycle_momentum:
            at = self.momentums[i]
            self._set_momentum(self.optimizer.param_groups[i], self._between(at[a == 1], at[b == 1], share))
        return self._between(self.rates[i][a], self.rates[i][b], share)


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a measure has not got better for more than `patience` epochs: ``step(loss)``."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer, self.factor, self.patience, self.eps = optimizer, factor, patience, eps
        self.min_lrs, self.cooldown, self.cooldown_counter = _per_group(min_lr, optimizer), cooldown, 0
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.best, self.num_bad_epochs, self.last_epoch = math.inf if mode == "min" else -math.inf, 0, 0
        self._last_lr = [g["lr"] for g in optimizer.param_groups]

    def is_better(self, a: float, best: float) -> bool:
        """Better by more than the threshold?"""
        sign = -1 if self.mode == "min" else 1
        bound = best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return a < bound if self.mode == "min" else a > bound

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Tell how good it is now."""
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


class SequentialLR(LRScheduler):
    """One schedule after the other; the next begins anew at its milestone."""

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
            s.last_epoch -= 1  # take back the step that each made when it was made
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Step the schedule whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(LRScheduler):
    """Several schedules at once, each changing what the others left."""

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
