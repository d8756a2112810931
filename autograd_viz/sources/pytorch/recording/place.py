"""The place of the recorder's mode among PyTorch's function modes, and when the recorder leaves it.

# Note [A step that raised]
An optimizer's own ops need no notes, so the mode is switched off for a step. PyTorch does not say when a step has raised. So
a global hook on modules exists during the step. The first module that runs after a step that raised calls it.

# Note [Our own code]
What we run beside the program is not the program's: the reads of a run, a pass that runs again, the steps of a stepper. It
may call the user's code, which needs the other modes. So our mode leaves its place meanwhile.

# Note [Without the mode]
Under a dispatch mode every op goes through Python. A picture shows nothing of the ops of a pass or a step, so the mode is
switched off for them. A pass with create_graph=True is recorded like other ops, and so is a step with a closure.
After a step that raised, the next pass or the end of the recording switches the mode on again.

# Note [Closed from elsewhere]
While the mode handles a call, PyTorch holds it and puts it back; and no thread reaches the modes of another. So a mode that is
closed there, as by a hook of a backward pass, notes nothing more, and leaves when the next module of its thread is called.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import torch
from torch._C._dynamo import eval_frame
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers
from torch.utils import _python_dispatch as dispatch

from ....runtime.collector import recording_begins, recording_ends
from ...shared.replacement import Replacement

pop, push = torch._C._pop_torch_function_stack, torch._C._push_on_torch_function_stack
depth, at = torch._C._len_torch_function_stack, torch._C._get_function_stack_at
AFTER_STEP, AFTER_CLOSE = -1, itertools.count(-2, -1)  # no hooks of PyTorch's have these numbers


class ModePlace:
    """Below all other modes, so that those come and go in their own order."""

    def __init__(self, mode: Any) -> None:
        self._mode, self._thread = mode, threading.get_ident()
        self._is_paused = self.is_away = False
        self._after_close = 0  # the number of a hook

    @property
    def is_here(self) -> bool:
        """Does this thread run the program?"""
        return threading.get_ident() == self._thread

    def close(self) -> None:
        """Leave for good: Note [Closed from elsewhere]."""
        self._mode.is_closed = True
        is_held = not (self._is_paused or self.is_away or self.is_taken())
        if self.is_here:
            self.leave()
        if is_held or not self.is_here:
            self._after_close = next(AFTER_CLOSE)
            modules._global_forward_pre_hooks[self._after_close] = self._leaves_late

    def _leaves_late(self, *_: object) -> None:
        if self.is_here:
            del modules._global_forward_pre_hooks[self._after_close]
            self.leave()

    def is_taken(self) -> bool:
        """Is the mode there? While it handles a call, it is not."""
        return any(at(k) is self._mode for k in range(depth()))

    def enter(self) -> None:
        """Put the mode below all others except that of `set_default_device`, which must be the lowest."""
        above = [pop() for _ in range(depth())]
        lowest = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
        if above and above[-1] is lowest:
            push(above.pop())
        push(self._mode)
        for mode in reversed(above):
            push(mode)

    def leave(self) -> None:
        """Remove the mode from its place."""
        for mode in reversed([pop() for _ in range(depth())]):
            if mode is not self._mode:
                push(mode)

    def pause(self) -> None:
        """Leave until the step ends: Note [A step that raised]."""
        if depth() and at(depth() - 1) is self._mode:
            modules._global_forward_pre_hooks[AFTER_STEP] = self.resume  # no handle: it would cost as much as an op
            self._is_paused = True
            pop()

    def resume(self, *_: object) -> None:
        """The step has ended."""
        if self._is_paused and self.is_here:
            self._is_paused = False
            del modules._global_forward_pre_hooks[AFTER_STEP]
            self.enter()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Inside, nothing is noted: Note [Our own code]."""
        if self.is_away or self._mode.is_closed or not self.is_here:
            yield
            return
        was_paused = self._is_paused
        self.resume()
        was_there = self.is_taken()
        self.leave()
        self.is_away = True
        try:
            yield
        finally:
            self.is_away = False
            if was_there and not self._mode.is_closed:
                self.enter()
                if was_paused:
                    self.pause()


ROOM = __package__.partition(".pytorch")[0]
ROOMS = (ROOM, f"{ROOM.rpartition('.')[0]}.runtime")
_left_out = set[str]()
_known = 0  # modules of the process when it was last looked


def leave_out() -> None:
    """Compile no function of the rooms that watch and record. Releases of PyTorch before 2.9 have no call for that."""
    global _known
    if not hasattr(eval_frame, "set_code_exec_strategy") or len(sys.modules) == _known:
        return
    _known = len(sys.modules)
    action = eval_frame._FrameAction
    only_this = eval_frame._FrameExecStrategy(action.SKIP, action.DEFAULT)
    new = {name for name in [*sys.modules] if name.startswith(ROOMS) and name != f"{__package__}.record"} - _left_out
    _left_out.update(new)
    for code in (code for name in new for code in _codes(sys.modules[name])):
        eval_frame.set_code_exec_strategy(code, only_this)


def _codes(module: Any) -> Iterator[CodeType]:
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]
    stack: list[Any] = [*own, *(part for kind in own if isinstance(kind, type) for part in vars(kind).values())]
    while stack:
        thing = stack.pop()
        thing = getattr(thing, "fget", None) or getattr(thing, "__func__", None) or getattr(thing, "__wrapped__", thing)
        code = thing.__code__ if isinstance(thing, FunctionType) else thing
        if isinstance(code, CodeType):
            yield code
            stack += [c for c in code.co_consts if isinstance(c, CodeType)]


CREATE_GRAPH = 3  # the index of this argument of the engine


class Aside:
    """Switches a mode off where it has nothing to see."""

    def __init__(self, mode: object) -> None:
        self.mode: Any = mode
        self._is_away = False
        self._hooks: list[Any] = []

    def begin(self) -> None:
        """The recording begins."""
        recording_begins()
        self._hooks = [
            Replacement(torch.autograd, "_engine_run_backward", self._runs),
            optimizers.register_optimizer_step_pre_hook(self._step_begins),
            optimizers.register_optimizer_step_post_hook(lambda *_: self._come_back()),
        ]

    def end(self) -> None:
        """The recording ends."""
        recording_ends()
        self._come_back()
        for hook in self._hooks:
            hook.remove()

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
