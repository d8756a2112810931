"""Ctrl-C between two lines of bookkeeping would leave half a step: there it waits; while code of the user's runs it comes.

So would another thread: Jupyter runs what a press of a button asks for beside the cell that runs. One move waits for another.

# Note [A destructor loses what it raises]
Python prints what `__del__` raises, or what a weak reference calls when its thing is gone, and goes on. Ctrl-C that comes there
while code of the user's runs waits too, until our next line that lets it in.
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

_moves = threading.RLock()  # held by the thread whose move is being made
PATIENCE = 0.05  # seconds between two looks at whether Ctrl-C has been pressed, while another thread's move is waited for


class _Waiting:
    """The handler of Ctrl-C while a block must not be cut in two.

    Attributes:
        depth: how many such blocks are around the line that runs.
        is_open: code of the user's runs inside of them.
        pressed: Ctrl-C has come, and waits.
    """

    def __init__(self) -> None:
        self.depth, self.is_open, self.pressed = 0, False, False
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
# ends of the names of functions that Python calls when a thing dies; of weak dictionaries and sets: Python's own and PyTorch's
DESTRUCTORS = ("__del__", "__init__.<locals>.remove", "__init__.<locals>._remove", "finalize.__call__")


def _is_lost(frame: FrameType | None) -> bool:
    """Would Python swallow what is raised here? See Note [A destructor loses what it raises]."""
    while frame is not None and not frame.f_code.co_qualname.endswith(DESTRUCTORS):
        frame = frame.f_back
    return frame is not None


def _is_heard() -> bool:
    """Does Ctrl-C reach this thread, as Python code? (Else there is nothing to keep out.)"""
    return threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT))


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """The block runs to its end (or to its own error), alone: Ctrl-C and other threads' moves come after it."""
    if not _is_heard():
        with _moves:
            yield
        return
    was_open = _waiting.is_open
    if _waiting.depth == 0:
        _waiting.begin()
    _waiting.is_open = False  # from this line on it waits: what follows is done whole, and no lock is left behind
    _waiting.depth += 1
    try:
        _wait_for_others()
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
    """Other threads' moves come after the block; Ctrl-C comes as it would without it."""
    was_open = _waiting.depth == 0 or _waiting.is_open
    with whole(), breakable() if was_open else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def breakable() -> Iterator[None]:
    """Inside of `whole`: the block may be cut, and what is around it puts things right."""
    if _waiting.depth == 0 or not _is_heard():
        yield
        return
    was_open = _waiting.is_open
    try:
        _open(True)
        yield
    finally:
        _waiting.is_open = was_open


def _wait_for_others() -> None:
    """Take the lock; Ctrl-C is heard while another thread has it."""
    while not _moves.acquire(timeout=PATIENCE):
        _open(True)
        _waiting.is_open = False


def _open(is_open: bool) -> None:
    """Ctrl-C that has waited comes as soon as it may."""
    _waiting.is_open = is_open
    if is_open and _waiting.pressed and not _is_lost(sys._getframe()):
        _waiting.pressed = False
        _waiting.before(signal.SIGINT, None)


def _in_child() -> None:
    """A fork copies the moment: a move that another thread was making has no thread here, and nobody would end it."""
    if _moves._is_owned():  # type: ignore[attr-defined]
        return  # the thread that forks makes it, and goes on here
    _moves._at_fork_reinit()  # type: ignore[attr-defined]
    if _waiting.depth:
        signal.signal(signal.SIGINT, _waiting.before)
        _waiting.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_in_child)
