"""The page of a stepper that a notebook stores. It steps without a kernel, also in what nbconvert writes.

# Note [DryRun]
A page has every step of the pass, but none has run when a cell shows a stepper. If no user code would be called (a hook, a
Function's backward), a dry run makes the steps and is taken back. Nobody can notice it. Otherwise the page appears when the
user reaches the end. Until then its place is empty.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

from ..pictures.maps.drawing import MapDrawing
from ..pictures.render.drawing import Drawing
from ..pictures.render.escape import text
from ..stepper.stepper import Stepper
from .html import filled, frame, html_page

MOST_NODES = 200
MOST_NUMBERS = 1_000_000  # in all tensors of a dry run
MOST_LETTERS = 400_000  # of a page: a notebook stores one for each stepper
HEIGHT = (460, 680)  # px, minimum and maximum
AROUND = 150  # px: controls, sentence and margins above and below the picture

DryRun = Callable[[], Stepper | None]


class PageOutput:
    """The page of one stepper, as the output of a cell.

    Args:
        stepper: the page shows its pass.
        mark: a class by which the live view finds and hides it.
        theme: as for the widget.
        drawing: gives the current drawing.
        dry_run: gives a stepper of the same pass that may run and be taken back; None if there is none.
    """

    def __init__(
        self, stepper: Stepper, mark: str, theme: str, drawing: Callable[[], Drawing | MapDrawing], dry_run: DryRun | None
    ) -> None:
        self.stepper, self.mark, self.theme, self.drawing, self.dry_run = stepper, mark, theme, drawing, dry_run
        self._shows_all = self._is_shown = False
        self._title = ""
        self._begin = 0  # the position of the stepper when a cell showed it: there the page opens
        stepper.on_move(self._moved)
        stepper.on_cut(lambda _: setattr(self, "_shows_all", False))

    def close(self) -> None:
        """Free the graph."""
        self.dry_run = None

    def html(self) -> str:
        """The page in its frame; "" if nothing is recorded, or if it would be too large."""
        page = self._page() if len(self.stepper.document.nodes) <= MOST_NODES else ""
        if not page or len(page) > MOST_LETTERS:
            return ""
        drawing = self.drawing()
        whole = (drawing.on_screen(True)["full"] if isinstance(drawing, Drawing) else drawing).height
        height = round(min(max(whole + AROUND, HEIGHT[0]), HEIGHT[1]))
        return filled("page/output.html", {"mark": self.mark, "title": text(self._title), "frame": frame(page, height)})

    def show(self, title: str = "") -> None:
        """Show it below the other outputs of the cell, with a title. An empty page keeps the place for later."""
        from IPython.display import display

        self._is_shown, self._begin, self._title = True, self.stepper.step, title
        display({"text/html": self.html()}, raw=True, display_id=self.mark)  # type: ignore[no-untyped-call]

    def _moved(self) -> None:
        """The pass may have ended."""
        if self._is_shown and not self._shows_all and self.stepper.is_over:
            from IPython.display import update_display

            self._shows_all = True
            update_display({"text/html": self.html()}, raw=True, display_id=self.mark)  # type: ignore[no-untyped-call]

    def _page(self) -> str:
        trace = self.stepper.trace
        if trace.steps:
            self._shows_all = trace.complete
            return html_page(self.stepper, self.theme, self._begin, self.drawing())
        return self._dry_run()

    def _dry_run(self) -> str:
        """The page of a pass that has been taken back; "" if it may not run or raises. See Note [DryRun]."""
        with warnings.catch_warnings(action="ignore"):
            try:
                stepper = self.dry_run() if self.dry_run is not None and self._is_quick() else None
                if stepper is None:
                    return ""
                try:
                    stepper.finish()
                    stepper.pins = self.stepper.pins
                    self._shows_all = True
                    return html_page(stepper, self.theme, self._begin, self.drawing())
                finally:
                    stepper.goto(0)
            except RuntimeError:  # backward() would refuse, too: the user sees the error at the first step
                return ""

    def _is_quick(self) -> bool:
        """Is the pass too short to notice?"""
        return sum(math.prod(t.value.shape) for t in self.stepper.document.tensors) <= MOST_NUMBERS
