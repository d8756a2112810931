"""The frames of a widget. They are made when somebody reads them: a page, code that saves the widget, or a program."""

from __future__ import annotations

from typing import Any

from ..pictures.maps.drawing import MapDrawing
from ..pictures.render import Theme
from ..pictures.render.drawing import Drawing
from ..stepper.stepper import Stepper
from .framed import Framed


class MadeFrames:
    """The frames that a widget has made, and how many of them its page has."""

    stepper: Stepper
    frames: Any
    recorded: Any
    hold_sync: Any  # ipywidgets'
    send_state: Any
    _drawing: Drawing | MapDrawing
    _theme: Theme
    _tell: Any

    _maker: Framed | None = None  # None while the widget is being made, and after close()
    _made: list[Any]  # the frames that are made
    _is_read = False  # somebody has read the frames: new ones are sent
    _known = _questions = 0  # how many frames the page has, and how many questions it has asked

    def make_frames(self) -> None:
        """The frames are being read: make the missing ones."""
        if self._maker is None:
            return
        self._is_read = True
        for index in range(len(self._made), len(self.stepper.recorded)):
            self._made.append(self._maker.frame(index))  # sends nothing

    def _send_frames(self) -> None:
        """Send the frames that the page does not have yet.

        If nobody has read any, there may be no page. A page asks for the frames that it misses.
        """
        begin, count = self._known, len(self.stepper.recorded)
        new = self.frames[begin:] if self._is_read else []
        self.recorded = {"from": begin if self._is_read else count, "frames": new, "answers": self._questions}
        self._known = count

    def _cut(self, length: int) -> None:
        """Recorded steps from `length` on are no longer valid."""
        del self._made[length:]
        self._maker = Framed(self.stepper, self._drawing, self._theme)
        for index in range(len(self._made)):
            self._maker.pass_over(index)
        self._known = min(self._known, length)
        self._send_frames()

    def _tell_anew(self) -> None:
        """The sentences of recorded steps have changed."""
        with self.hold_sync():
            self._cut(0)
            self._tell()

    def catch_up(self) -> None:
        """Send the steps that ran before there was a page."""
        if self.frames:  # reading them marks them as read
            self.send_state("frames")

    def _let_go(self) -> None:
        """The widget is closed: free the frames."""
        self._maker, self._is_read = None, False
        self._made.clear()
