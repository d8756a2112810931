"""Where a program's optimizers are seen when they are made, and the models that they train before they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.optim import optimizer as optimizers

from ...shared.replaced import Replaced
from ..reading.older import is_dynamo_compiling


class Calls(Replaced):
    """The calls of modules; compiled code has none."""

    def _inside(self, around: Any) -> Any:
        def now(module: object, /, *args: Any, **kwargs: Any) -> Any:
            if is_dynamo_compiling() or not self._is_on:
                return self._before(module, *args, **kwargs)
            return around(self._before, module, *args, **kwargs)

        return now


def hooked(trained: Any) -> Callable[[], None]:
    """From now on PyTorch's optimizers are seen; gives what ends it.

    Args:
        trained: the `Trained` that is told.
    """
    trained.on_calls.append(lambda: Calls(torch.nn.Module, "__call__", trained.calls))
    made = Replaced(torch.optim.Optimizer, "_patch_step_function", trained.made)  # it runs when one is made or unpickled
    step = optimizers.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: _steps(trained, optimizer))

    def end() -> None:
        made.undo()
        step.remove()

    return end


def _steps(trained: Any, optimizer: Any) -> None:
    """An optimizer is about to step.

    What begins to watch now registers global hooks, and PyTorch is going through these. So it begins in a hook of the
    optimizer's own, which PyTorch comes to after them.
    """
    if is_dynamo_compiling() or not trained.is_unseen(optimizer):
        return

    def begins(optimizer: object, args: Any, kwargs: Any) -> Any:
        handle.remove()
        for watch in trained.unseen(optimizer):
            args, kwargs = watch.step_begins(optimizer, args, kwargs) or (args, kwargs)
        return args, kwargs

    handle = optimizer.register_step_pre_hook(begins)
