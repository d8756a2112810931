"""What runs without the recording: backward passes without create_graph, and the steps of optimizers.

# Note [Without the mode]
Under a dispatch mode every op goes through Python. A picture shows nothing of the ops of a pass or a step, so the mode is
switched off for them. A pass with create_graph=True is recorded like other ops, and so is a step with a closure.
After a step that raised, the next pass or the end of the recording switches the mode on again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import optimizer as optimizers
from torch.utils import _python_dispatch as dispatch

from ....runtime.collector import recording_begins, recording_ends
from ...shared.replaced import Replaced

CREATE_GRAPH = 3  # the index of this argument of the engine


class Aside:
    """Switches a mode off where it has nothing to see.

    Args:
        mode: the recording.
    """

    def __init__(self, mode: object) -> None:
        self.mode: Any = mode
        self._is_away = False
        self._hooks: list[Any] = []
        self._engine: Replaced | None = None

    def begin(self) -> None:
        """The recording begins."""
        recording_begins()
        self._engine = Replaced(torch.autograd, "_engine_run_backward", self._runs)
        self._hooks = [
            optimizers.register_optimizer_step_pre_hook(self._step_begins),
            optimizers.register_optimizer_step_post_hook(self._step_ends),
        ]

    def end(self) -> None:
        """The recording ends."""
        recording_ends()
        self._come_back()
        for hook in self._hooks:
            hook.remove()
        if self._engine is not None:
            self._engine.undo()

    def _runs(self, run: Any, *args: Any, **kwargs: Any) -> Any:
        """A pass. One inside of another, as of a checkpoint, finds the mode as the other has left it."""
        if torch._C._current_graph_task_id() != -1:
            return run(*args, **kwargs)
        self._come_back()
        is_recorded = bool(args[CREATE_GRAPH]) if len(args) > CREATE_GRAPH else True
        if is_recorded or not self._go():
            return run(*args, **kwargs)
        try:
            return run(*args, **kwargs)
        finally:
            self._come_back()

    def _step_begins(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._come_back()
        if all(a is None for a in (*args[1:], *kwargs.values())):
            self._go()

    def _step_ends(self, optimizer: torch.optim.Optimizer, args: object, kwargs: object) -> None:
        self._come_back()

    def _go(self) -> bool:
        """Switch the mode off, unless another is above it."""
        stack: list[Any] = dispatch._get_current_dispatch_mode_stack()
        if not stack or stack[-1] is not self.mode:
            return False
        dispatch._pop_mode()
        self._is_away = self.mode.has_passed = True
        return True

    def _come_back(self) -> None:
        if self._is_away:
            self._is_away = False
            dispatch._push_mode(self.mode)
