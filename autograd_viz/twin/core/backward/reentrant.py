"""Nested backward passes: as in PyTorch, a deeply nested one runs on its own thread and stack."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable

MOST = 500  # frames of Python; the recursion limit does not enlarge the C stack


def stack_is_half_full() -> bool:
    """Does this thread use half of Python's recursion limit, or MOST frames?"""
    frame, left = sys._getframe(), min(sys.getrecursionlimit() // 2, MOST)
    while frame.f_back is not None and left:
        frame, left = frame.f_back, left - 1
    return not left


class Errand:
    """A function that runs on a new thread while this thread waits, with the same grad mode.

    Attributes:
        interrupted: Ctrl-C reached the waiting thread, and the running thread must raise it.
    """

    interrupted = False

    def __init__(self, function: Callable[[], None]) -> None:
        self.function = function
        self.errors: list[BaseException] = []
        self.done = threading.Event()

    def run(self) -> None:
        """Wait for the function, and raise its exception."""
        thread = threading.Thread(target=contextvars.copy_context().run, args=(self._work,), daemon=True)
        thread.start()
        try:
            self.done.wait()  # after Ctrl-C, join() would report that the thread has ended
        except KeyboardInterrupt:  # Python raises it in the main thread, whichever thread runs
            Errand.interrupted = True
            self.done.wait()
            if Errand.interrupted:  # no node was left to raise it
                Errand.interrupted = False
                raise
        if self.errors:
            try:
                raise self.errors[0]
            finally:
                self.errors.clear()  # an exception holds this frame: this breaks the cycle

    def _work(self) -> None:
        try:
            self.function()
        except BaseException as error:
            self.errors.append(error)
        finally:
            self.done.set()


def check_interrupt() -> None:
    """Between two nodes of a nested pass, raise the Ctrl-C that was pressed while the main thread waits."""
    if Errand.interrupted:
        Errand.interrupted = False
        raise KeyboardInterrupt
