"""The frames of a widget. They are made when somebody reads them: a page, whoever saves the widget, or a program."""

from __future__ import annotations

from typing import Any

from ..maps.drawing import MapDrawing
from ..render.drawing import Drawing
from ..stepper.stepper import Stepper
from .frames import FrameMaker
from .map_frames import MapFrames


class MadeFrames:
    """What a widget knows of its frames, and what its page knows of them."""

    stepper: Stepper
    frames: Any
    recorded: Any
    hold_sync: Any  # ipywidgets'
    send_state: Any
    _drawing: Drawing | MapDrawing
    _maker_of: Any
    _tell: Any

    _maker: FrameMaker | MapFrames | None = None  # None while the widget is being made, and when it is closed
    _made: list[Any]  # the frames that are made
    _is_read = False  # somebody has read the frames, and is sent what is new
    _known = _questions = 0  # frames that the page has been told of, and what it has asked

    def make_frames(self) -> None:
        """Somebody reads the frames: make those that are missing."""
        if self._maker is None:
            return
        self._is_read, steps = True, self.stepper.recorded
        for i in range(len(self._made), len(steps)):
            self._made.append(self._maker.frame(steps[i], self.stepper.sentence_at(i + 1)))  # sends nothing

    def _send_frames(self) -> None:
        """The frames that the page has not got yet. If nobody has read any, there may be no page: if there is, it will ask for
        those that it misses.
        """
        begin, count = self._known, len(self.stepper.recorded)
        new = self.frames[begin:] if self._is_read else []
        self.recorded = {"from": begin if self._is_read else count, "frames": new, "answers": self._questions}
        self._known = count

    def _cut(self, length: int) -> None:
        """Recorded steps from `length` on no longer hold."""
        del self._made[length:]
        self._maker = self._maker_of(self._drawing)
        for step in self.stepper.recorded[: len(self._made)]:
            self._maker.pass_over(step)
        self._known = min(self._known, length)
        self._send_frames()

    def _tell_anew(self) -> None:
        """What is said of recorded steps has changed."""
        with self.hold_sync():
            self._cut(0)
            self._tell()

    def catch_up(self) -> None:
        """Send the steps that were taken before there was a page to keep them."""
        if self.frames:  # from now on somebody has read them
            self.send_state("frames")

    def _let_go(self) -> None:
        """The widget is closed: keep no frames."""
        self._maker, self._is_read = None, False
        self._made.clear()
