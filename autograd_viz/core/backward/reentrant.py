"""A backward pass inside a backward pass inside ...: as in PyTorch, a deep one runs on a thread and stack of its own."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable

MOST = 500  # frames of Python; the stack of C is as large as it is, whatever the recursion limit


def stack_is_half_full() -> bool:
    """Has this thread half the frames that Python allows, or MOST?"""
    frame, left = sys._getframe(), min(sys.getrecursionlimit() // 2, MOST)
    while frame.f_back is not None and left:
        frame, left = frame.f_back, left - 1
    return not left


class Errand:
    """A function that runs on a thread of its own while this one waits; grad mode is as here.

    Attributes:
        interrupted: Ctrl-C has reached the thread that waits, and is to reach the one that runs.
    """

    interrupted = False

    def __init__(self, function: Callable[[], None]) -> None:
        self.function = function
        self.errors: list[BaseException] = []
        self.done = threading.Event()

    def run(self) -> None:
        """Wait for the function, and raise what it raises."""
        thread = threading.Thread(target=contextvars.copy_context().run, args=(self._work,), daemon=True)
        thread.start()
        try:
            self.done.wait()  # join() would take the thread for ended after Ctrl-C
        except KeyboardInterrupt:  # the main thread hears it, whichever works
            Errand.interrupted = True
            self.done.wait()
            if Errand.interrupted:  # nobody has: there was no node left
                Errand.interrupted = False
                raise
        if self.errors:
            try:
                raise self.errors[0]
            finally:
                self.errors.clear()  # an error knows this frame: no cycle

    def _work(self) -> None:
        try:
            self.function()
        except BaseException as error:
            self.errors.append(error)
        finally:
            self.done.set()


def check_interrupt() -> None:
    """Between two nodes of a nested pass.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed while the main thread waits.
    """
    if Errand.interrupted:
        Errand.interrupted = False
        raise KeyboardInterrupt
