"""What ends a program from outside: Ctrl-C, and the signals that ask a process to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ASKING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Ended(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number  # the exit code that a shell sees: 143 for SIGTERM


@contextmanager
def told_to_end() -> Iterator[None]:
    """Inside, a signal that would end this process raises `Ended` once. The next one ends it, and so does one to a child."""
    process = os.getpid()

    def ends(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != process:
            os.kill(os.getpid(), number)
        else:
            raise Ended(number)

    is_main = threading.current_thread() is threading.main_thread()
    ours = [number for number in ASKING if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, ends)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is ends:  # the program may have set its own
                signal.signal(number, signal.SIG_DFL)
