"""Where a run is watched: the global hooks of optimizers, and five names that are replaced meanwhile. Where models are found.

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

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch.optim import optimizer as optimizers

from ...shared.replacement import Replacement
from ...shared.run.results import run_begins, run_ends
from ..reading.older import GradScaler, is_dynamo_compiling
from ..recording.place import leave_out

_utils = torch.nn.utils
CLIPPING: list[tuple[Any, str]] = (
    [(_utils.clip_grad, "_clip_grads_with_norm_")]
    if hasattr(_utils.clip_grad, "_clip_grads_with_norm_")
    else [(_utils, "clip_grad_norm_"), (_utils.clip_grad, "clip_grad_norm_")]
)


class Calls(Replacement):
    """The calls of modules; compiled code has none. One that is not looked at costs a frame, not two: a small model has many.

    A run looks at its model, and in full steps at all modules; without a run all are looked at.
    """

    def __init__(self, around: Callable[..., Any], run: Any = None) -> None:
        self._run = run
        super().__init__(torch.nn.Module, "__call__", around)

    def _inside(self, around: Any) -> Any:
        run = self._run

        def now(module: Any, /, *args: Any, **kwargs: Any) -> Any:
            if is_dynamo_compiling() or not (run is None or module is run.model() or run.steps.is_full) or not self.is_on:
                return self._before(module, *args, **kwargs)
            return around(self._before, module, *args, **kwargs)

        return now


def hooks_of(run: Any) -> ExitStack:
    """The hooks of a run, until they are closed."""
    leave_out()
    run_begins(run)
    handles: tuple[Any, ...] = (
        optimizers.register_optimizer_step_pre_hook(run.step_begins),
        optimizers.register_optimizer_step_post_hook(run.step_ends),
        Calls(run.calls, run),
        Replacement(torch.autograd, "_engine_run_backward", run.runs_backward),
        *(Replacement(owner, name, run.clips) for owner, name in CLIPPING),
        Replacement(GradScaler, "step", run.scaler_steps),
    )
    stack = ExitStack()
    stack.callback(run_ends, run)
    for handle in handles:
        stack.callback(handle.remove)
    return stack


def optimizer_hooks(found: Any) -> list[Any]:
    """From now on PyTorch's optimizers are seen, until these handles are removed."""
    found.on_calls.append(lambda: Calls(found.calls))
    made = Replacement(torch.optim.Optimizer, "_patch_step_function", found.made)  # it runs when one is made or unpickled
    step = optimizers.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: _steps(found, optimizer))
    return [made, step]


def _steps(found: Any, optimizer: Any) -> None:
    """An optimizer is about to step. What begins to watch now registers global hooks, and PyTorch is going through these. So it
    begins in a hook of the optimizer's own, which PyTorch comes to after them.
    """
    if is_dynamo_compiling() or optimizer in found.known:
        return

    def begins(optimizer: object, args: Any, kwargs: Any) -> Any:
        handle.remove()
        for watch in found.unseen(optimizer):
            args, kwargs = watch.step_begins(optimizer, args, kwargs) or (args, kwargs)
        return args, kwargs

    handle = optimizer.register_step_pre_hook(begins)
