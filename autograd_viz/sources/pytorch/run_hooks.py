"""Where a run is watched: the global hooks of optimizers, and the names that are replaced meanwhile.

# Note [What a run hooks]
Nothing is put on the user's model, so it can be copied, pickled, compiled and saved while it is watched.
- `__call__` of the model's class runs the model. Its result's node gets a prehook.
- `torch.nn.Module.__call__` runs each module. It is replaced in full steps only, because every module pays for that.
- Global hooks report the steps of optimizers.
- `torch.autograd._engine_run_backward` runs all passes; its first argument has the roots.
- `torch.nn.utils.clip_grad_norm_` returns the norm before clipping.
- `GradScaler.step` decides whether an optimizer steps. It knows the scale of the loss.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import optimizer as optimizers

from ..replaced import Replaced


class Hooks:
    """The hooks of a run, until `remove`.

    Args:
        run: has the methods that are called.
    """

    def __init__(self, run: Any) -> None:
        self._handles = [
            optimizers.register_optimizer_step_pre_hook(run.step_begins),
            optimizers.register_optimizer_step_post_hook(run.step_ends),
        ]
        utils = torch.nn.utils
        self._run = run
        self._inner: Replaced | None = None
        self._names = [
            Replaced(type(run.model), "__call__", run.calls),
            Replaced(torch.autograd, "_engine_run_backward", run.runs_backward),
            Replaced(utils, "clip_grad_norm_", run.clips),
            Replaced(utils.clip_grad, "clip_grad_norm_", run.clips),
            Replaced(torch.amp.GradScaler, "step", run.scaler_steps),
        ]
        self.look_inside()

    def look_inside(self) -> None:
        """See each module's call in a full step, and the model's alone in others."""
        if self._run.steps.is_full:
            self._inner = self._inner or Replaced(torch.nn.Module, "__call__", self._run.calls_part)
        elif self._inner is not None:
            self._inner.undo()
            self._inner = None

    def remove(self) -> None:
        """Take all hooks away."""
        if self._inner is not None:
            self._inner.undo()
        for handle in self._handles:
            handle.remove()
        for name in self._names:
            name.undo()
