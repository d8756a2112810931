"""Where a run is watched: the global hooks of optimizers, and five names that are replaced meanwhile.

# Note [What a run hooks]
Nothing is put on the user's model, so it can be copied, pickled, compiled and saved while it is watched.
- `torch.nn.Module.__call__` runs each module. Its result's node gets a prehook. A global hook would cost every module more.
- Global hooks report the steps of optimizers.
- `torch.autograd._engine_run_backward` runs all passes; its first argument has the roots.
- `_clip_grads_with_norm_` gets the norm before clipping. Before PyTorch 2.6, `clip_grad_norm_` returns it; where a program
  has imported that by name, it is not seen.
- `GradScaler.step` decides whether an optimizer steps. It knows the scale of the loss.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import optimizer as optimizers

from ...shared.replaced import Replaced
from ...shared.run import open_runs
from ..reading.older import GradScaler, is_dynamo_compiling
from ..recording.uncompiled import leave_out

_utils = torch.nn.utils
CLIPPING: list[tuple[Any, str]] = (
    [(_utils.clip_grad, "_clip_grads_with_norm_")]
    if hasattr(_utils.clip_grad, "_clip_grads_with_norm_")
    else [(_utils, "clip_grad_norm_"), (_utils.clip_grad, "clip_grad_norm_")]
)


class Calls(Replaced):
    """The calls of modules. One that is not looked at costs a frame, not two; a step of a small model has many."""

    def __init__(self, run: Any) -> None:
        self._run = run
        super().__init__(torch.nn.Module, "__call__", run.calls)

    def _inside(self, around: Any) -> Any:
        run = self._run

        def now(module: Any, /, *args: Any, **kwargs: Any) -> Any:
            if is_dynamo_compiling() or not (module is run.model() or run.steps.is_full) or not self._is_on:
                return self._before(module, *args, **kwargs)
            return around(self._before, module, *args, **kwargs)

        return now


class Hooks:
    """The hooks of a run, until `remove`.

    Args:
        run: has the methods that are called.
    """

    def __init__(self, run: Any) -> None:
        self._run = run
        leave_out()
        open_runs.begins(run)
        self._handles = [
            optimizers.register_optimizer_step_pre_hook(run.step_begins),
            optimizers.register_optimizer_step_post_hook(run.step_ends),
        ]
        self._names = [
            Calls(run),
            Replaced(torch.autograd, "_engine_run_backward", run.runs_backward),
            *(Replaced(owner, name, run.clips) for owner, name in CLIPPING),
            Replaced(GradScaler, "step", run.scaler_steps),
        ]

    def remove(self) -> None:
        """Take all hooks away."""
        for handle in self._handles:
            handle.remove()
        for name in self._names:
            name.undo()
        open_runs.ends(self._run)
