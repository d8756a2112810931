"""Averages of a model over its training: stochastic weight averaging (SWA), and exponential moving averages (EMA)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from ..core.base.grad_mode import no_grad
from ..core.tensor.creation import tensor
from ..nn.module import Module
from ..nn.normalization import _BatchNorm
from .lr_scheduler.scheduler import LRScheduler, per_group
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Average = Callable[..., Any]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The function ``decay * average + (1 - decay) * current``. Raises ValueError: `decay` is not in [0, 1]."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return no_grad()(lambda average, current, count: decay * average + (1 - decay) * current)


def get_swa_avg_fn() -> Average:
    """The function that gives the mean of all `count + 1` values."""
    return no_grad()(lambda average, current, count: average + (current - average) / (count + 1))


def _of_lists(one: Average) -> Average:
    """The same for lists of parameters, in place."""

    @no_grad()
    def update(averages: list[Any], currents: list[Any], count: Any) -> None:
        for average, current in zip(averages, currents, strict=True):
            average.copy_(one(average, current, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """`get_ema_avg_fn` for lists of parameters."""
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Average:
    """`get_swa_avg_fn` for lists of parameters."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are averages: by default the mean over all calls of `update_parameters`.

    `avg_fn` is another average of (average, current, number of averaged values), `multi_avg_fn` the same for lists, in place.
    With `use_buffers` the buffers are averaged too, not copied.
    """

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None, multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model).to(device=device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The output of the averaged model."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Add the present parameters of `model` to the averages."""
        mine, theirs = ([*m.parameters(), *(m.buffers() if self.use_buffers else ())] for m in (self.module, model))
        averages, currents = ([p.detach() for p in group] for group in (mine, theirs))
        if self.n_averaged == 0:
            update = _of_lists(lambda average, current, count: current)
        else:
            update = self.multi_avg_fn or _of_lists(self.avg_fn or get_swa_avg_fn())
        update(averages, currents, self.n_averaged)
        if not self.use_buffers:
            for average, current in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(current)
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch norm layers anew, as the mean over all batches of `loader`."""
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, list | tuple) else batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from the present rate to `swa_lr` in `anneal_epochs` epochs, along a cosine or a line, and stays there."""

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:
        for group, lr in zip(optimizer.param_groups, per_group(swa_lr, optimizer), strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def _lr_after(self, i: int, lr: float, epoch: int) -> float:
        end = self.optimizer.param_groups[i]["swa_lr"]
        step = max(1, self._step_count - 1) if self.anneal_epochs == 0 else self._step_count - 1
        before, now = self._share(step - 1), self._share(step)
        begin = end if before == 1 else (lr - before * end) / (1 - before)
        return float(end * now + begin * (1 - now))
