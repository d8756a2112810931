"""Ctrl-C at chosen moments: at the k-th line that Python runs of this package, drawing left out."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import autograd_viz

PACKAGE = Path(autograd_viz.__file__).parent
PLACES = (
    *(
        "core",
        "interrupts",
        "saving",
        "sources",
        "stepper",
        "cursor",
        "stops",
        "views",
        "widget/widget",
        "export/image",
        "answers",
    ),
)
LOOKED_AT = tuple(str(PACKAGE / place) for place in PLACES)


class Moments:
    """Counts lines of the package while an action runs, and presses Ctrl-C at one of them.

    Args:
        at: the number of the line, from 1; 0: never.

    Attributes:
        lines: how many have run.
    """

    def __init__(self, at: int = 0) -> None:
        self.at, self.lines = at, 0

    def run(self, action: Callable[[], Any]) -> bool:
        """Was the action interrupted?"""
        before = sys.gettrace()
        with heard():
            sys.settrace(self._call)
            try:
                action()
            except KeyboardInterrupt:
                return True
            finally:
                sys.settrace(before)
        return False

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(LOOKED_AT) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                signal.raise_signal(signal.SIGINT)
        return self._line


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also in a process that was started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def lines_of(action: Callable[[], Any]) -> int:
    """How many lines of the package an action runs."""
    moments = Moments()
    moments.run(action)
    return moments.lines
