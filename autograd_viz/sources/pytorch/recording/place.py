"""The place of the recorder's mode among PyTorch's function modes, and when the recorder leaves it.

# Note [A step that raised]
An optimizer's own ops need no notes, so the mode is switched off for a step. PyTorch does not say when a step has raised. So
a global hook on modules exists during the step. The first module that runs after a step that raised calls it.

# Note [Our own code]
What we run beside the program is not the program's: the reads of a run, a pass that runs again, the steps of a stepper. It
may call the user's code, which needs the other modes. So our mode leaves its place meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.nn.modules import module as modules

pop, push = torch._C._pop_torch_function_stack, torch._C._push_on_torch_function_stack
depth, at = torch._C._len_torch_function_stack, torch._C._get_function_stack_at
AFTER_STEP = -1  # no hook of PyTorch's has this number


class ModePlace:
    """Below all other modes, so that those come and go in their own order.

    Args:
        mode: the recorder's.

    Attributes:
        is_away: our own code runs.
    """

    def __init__(self, mode: object) -> None:
        self._mode, self._thread = mode, threading.get_ident()
        self._is_paused = self.is_away = self._is_closed = False

    @property
    def is_here(self) -> bool:
        """Does this thread run the program?"""
        return threading.get_ident() == self._thread

    def close(self) -> None:
        """Leave for good."""
        self._is_closed = True
        if self.is_here:
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
        modes = [pop() for _ in range(depth())]
        for mode in reversed(modes):
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
        if self.is_away or self._is_closed or not self.is_here:
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
            if was_there and not self._is_closed:
                self.enter()
                if was_paused:
                    self.pause()
