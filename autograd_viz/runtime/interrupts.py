"""Ctrl-C must not interrupt our bookkeeping, which would leave half a step. It waits, and comes while user code runs.

Another thread would do the same damage: Jupyter may run a button's callback beside a running cell. So moves exclude each other.

# Note [A destructor loses what it raises]
Python prints an exception of `__del__` or of a weak reference's callback, and goes on. So Ctrl-C waits there too, even in user
code. It comes at our next line that permits it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_moves = threading.RLock()  # held by the thread that makes a move
PATIENCE = 0.05  # seconds between two checks for Ctrl-C, while another thread has the lock


class _Waiting:
    """The handler of Ctrl-C while a block must run whole."""

    def __init__(self) -> None:
        self.depth = 0  # of such blocks around the present line
        self.is_open = self.pressed = False  # user code runs inside them; Ctrl-C has come, and waits
        self.before: Any = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.is_open and not _is_lost(frame):
            self.before(number, frame)
        else:
            self.pressed = True

    def begin(self) -> None:
        self.before, self.pressed, self.is_open = signal.getsignal(signal.SIGINT), False, False
        signal.signal(signal.SIGINT, self)

    def end(self) -> None:
        signal.signal(signal.SIGINT, self.before)
        if self.pressed:
            self.pressed = False
            self.before(signal.SIGINT, None)


_waiting = _Waiting()
# name ends of functions that Python calls when an object dies; of Python's and PyTorch's weak dictionaries and sets
DESTRUCTORS = ("__del__", "__init__.<locals>.remove", "__init__.<locals>._remove", "finalize.__call__")


def _is_lost(frame: FrameType | None) -> bool:
    """Would Python swallow an exception here? See Note [A destructor loses what it raises]."""
    while frame is not None and not frame.f_code.co_qualname.endswith(DESTRUCTORS):
        frame = frame.f_back
    return frame is not None


def _is_heard() -> bool:
    """Does Ctrl-C reach this thread as Python code? If not, there is nothing to delay."""
    if threading.current_thread() is not threading.main_thread():
        return False
    return _waiting.depth > 0 or callable(signal.getsignal(signal.SIGINT))  # inside of such a block the handler is ours


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """Run the block to its end or its own error, alone. Ctrl-C and other threads' moves come after it."""
    if not _is_heard():
        with _moves:
            yield
        return
    was_open = _waiting.is_open
    if _waiting.depth == 0:
        _waiting.begin()
    _waiting.is_open = False  # from here on Ctrl-C waits, so that the rest runs whole and releases the lock
    _waiting.depth += 1
    try:
        while not _moves.acquire(timeout=PATIENCE):  # Ctrl-C works while another thread has the lock
            _open(True)
            _waiting.is_open = False
        try:
            yield
        finally:
            _moves.release()
    finally:
        _waiting.depth -= 1
        if _waiting.depth == 0:
            _waiting.end()
        else:
            _open(was_open)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Other threads' moves wait until the block ends. Ctrl-C does not wait."""
    was_open = _waiting.depth == 0 or _waiting.is_open
    with whole(), breakable() if was_open else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def breakable() -> Iterator[None]:
    """Inside `whole`: Ctrl-C may interrupt the block, and the code around it repairs the state."""
    if _waiting.depth == 0 or not _is_heard():
        yield
        return
    was_open = _waiting.is_open
    try:
        _open(True)
        yield
    finally:
        _waiting.is_open = was_open


def _open(is_open: bool) -> None:
    """Set is_open. A waiting Ctrl-C is raised as soon as it may be."""
    _waiting.is_open = is_open
    if is_open and _waiting.pressed and not _is_lost(sys._getframe()):
        _waiting.pressed = False
        _waiting.before(signal.SIGINT, None)


def _in_child() -> None:
    """Reset the state after a fork in the middle of a move, because the child lacks the thread of the move."""
    if _moves._is_owned():  # type: ignore[attr-defined]
        return  # the forking thread makes the move, and it continues here
    _moves._at_fork_reinit()  # type: ignore[attr-defined]
    if _waiting.depth:
        signal.signal(signal.SIGINT, _waiting.before)
        _waiting.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):  # Windows lacks it
    os.register_at_fork(after_in_child=_in_child)
