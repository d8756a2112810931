"""Pages of data in a notebook: a run, which follows the loop and opens steps; sliders; two passes with one cursor."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from time import perf_counter
from typing import Any

import traitlets

from .front_end import OneSource, Quiet, QuietLayout, watch

PAUSE = 0.5  # seconds between two repaints, at least
SHARE = 0.01  # of the time that the loop takes, at most; the first repaint, which loads modules, is not counted


class DataWidget(Quiet, OneSource):
    """A page of `data` in a cell. `mark`: the class of the picture that the page hides while it is there."""

    data = traitlets.Dict().tag(sync=True)

    def __init__(self, data: dict[str, Any]) -> None:
        self.mark = f"av-still-{secrets.token_hex(8)}"
        super().__init__(data={**data, "mark": self.mark}, layout=QuietLayout())

    def show(self, data: dict[str, Any]) -> None:
        """Show other data."""
        self.data = {**data, "mark": self.mark}


class DiffWidget(DataWidget):
    """The page of `diff` in a cell, with the data of `Difference.page`."""

    entry, styles = "diff/diff.js", ("shared/unseen.css", "diff/diff.css")


class RunWidget(DataWidget):
    """The picture of a run, which follows it: `read` gives the data of the page (`runs.page`).

    `open_step` gives the map of a step in a theme as SVG, and a sentence; it raises if the step cannot be opened. `opened` is
    the step that was opened last: its map as base64 of SVG, or why it cannot be opened.
    """

    entry, styles = "run/run.js", ("run/run.css",)
    opened = traitlets.Dict().tag(sync=True)

    def __init__(self, read: Callable[[], dict[str, Any]], open_step: Callable[[int, str], tuple[str, str]]) -> None:
        self._read, self._open, self._due = read, open_step, 0.0
        self._is_behind = False
        super().__init__(read())
        self.on_msg(self._heard)
        watch(self, RunWidget.catch_up)

    def follow(self) -> None:
        """Show the newest steps, if the last repaint is long enough ago."""
        began = perf_counter()
        if began >= self._due:
            is_first = not self._due
            self.refresh()
            now = perf_counter()
            self._due = now + (PAUSE if is_first else max(PAUSE, (now - began) / SHARE))
        else:
            self._is_behind = True

    def catch_up(self) -> None:
        """Show the last steps when a cell has run, since the loop may have ended with it."""
        if self._is_behind:
            self.refresh()

    def refresh(self) -> None:
        """Show the newest steps."""
        self._is_behind = False
        self.show(self._read())

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"kind": "open", "step": int() as step, "theme": "light" | "dark" as theme}:
                try:
                    svg, said = self._open(step, theme)
                except Exception as error:  # the page says why
                    svg, said = "", f"{type(error).__name__}: {error}"
                self.opened = {"svg": base64.b64encode(svg.encode()).decode(), "said": said}
