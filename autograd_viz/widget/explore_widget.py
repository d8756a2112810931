"""Sliders in a notebook: the page asks, the function runs, and the page gets new numbers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import traitlets

from .. import words
from ..pictures.files.cell import cell_bundle
from ..runtime.interrupts import alone
from .data_widgets import DataWidget
from .front_end import show_live
from .html import HEIGHT, MOST_LETTERS, MOST_NODES, filled, frame
from .modules import STYLES


class ExploreWidget(DataWidget):
    """Sliders on the leaves of a function, over its figure. `explorer` has the function and the present values
    (verbs/explorer.py), `recorded` what the page shows (`Explorer.moment`), and how many of its questions are answered.
    """

    kind = "explorer"
    entry, styles = "explore/explore.js", (*STYLES, "explore/explore.css")
    recorded = traitlets.Dict().tag(sync=True)

    def __init__(self, explorer: Any) -> None:
        self.explorer, self._answers = explorer, 0
        now = explorer.moment()
        super().__init__(explorer.data())
        self.recorded = {**now, "answers": 0}
        self.on_msg(self._heard)

    @property
    def values(self) -> dict[str, list[float]]:
        """The elements of each leaf."""
        return {name: [*values] for name, values in self.explorer.values.items()}

    @property
    def svg(self) -> str:
        """The figure as it is now."""
        return str(self.explorer.svg)

    def svg_in(self, theme: str) -> str:
        """The figure as it is now, in a theme."""
        return str(self.explorer.svg_in(theme))

    def to_html(self, theme: str = "auto") -> str:
        """A page with recorded runs along the leaf that was moved last."""
        return str(self.explorer.to_html(theme))

    def set(self, **values: Any) -> str:
        """Give leaves other values, as a slider does: a number, or a list of all elements. Returns what is said then."""
        self._show_now(self.explorer.give(values))
        return " ".join(filter(None, (self.recorded[part] for part in ("said", "nudge", "error", "redrawn"))))

    def _show_now(self, now: dict[str, Any]) -> None:
        with self.hold_sync():
            if str(now["shape"]) not in self.data["pictures"]:
                self.show(self.explorer.data())
            self.recorded = {**now, "answers": self._answers}

    def _heard(self, widget: Any, content: Any, buffers: Any) -> None:
        with alone():
            if isinstance(content, dict) and content.get("kind") == "move":
                self._answers += 1
                with suppress(KeyError, IndexError, TypeError, ValueError):  # a page of another function
                    self._show_now(self.explorer.answer(content))
                    return
                self.recorded = {**self.recorded, "answers": self._answers}

    def _ipython_display_(self) -> None:
        """Show the sliders, and what stays in the notebook: a picture and a page of recorded runs."""
        from IPython.display import display

        explorer = self.explorer
        still = cell_bundle(self.svg, str(explorer), self.mark, " ".join((str(explorer), words.EXPLORE_STILL)))
        show_live(self, str(explorer), still)
        page = explorer.to_html() if explorer.is_quick and len(explorer.ran.document.nodes) <= MOST_NODES else ""
        if page and len(page) <= MOST_LETTERS:
            places = {"mark": self.mark, "title": "", "frame": frame(page, HEIGHT[1])}
            display({"text/html": filled("page/output.html", places)}, raw=True)  # type: ignore[no-untyped-call]
