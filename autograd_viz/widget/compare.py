"""Two steppers side by side that move together."""

from __future__ import annotations

from typing import Any

import ipywidgets
import traitlets

from .front_end import Quiet, QuietLayout
from .widget import StepperWidget


class Compare(Quiet, ipywidgets.HBox):  # type: ignore[misc]
    """Widgets (`steppers`) that move together; each stops at its own end. `step`, the common position, can be set."""

    kind = "comparison"

    step = traitlets.Int(0)
    children: Any  # ipywidgets'

    def __init__(self, *steppers: StepperWidget, titles: tuple[str, ...] = ()) -> None:
        self.steppers = steppers
        self._following = False
        self._titles = [*titles, *("",) * (len(steppers) - len(titles))]
        super().__init__(layout=QuietLayout(flex_flow="row wrap", width="100%"))
        for s in steppers:
            if s is not max(steppers, key=lambda other: other._total):  # one toolbar moves all
                s.add_class("av-follows")
        self.step = min((s.step for s in steppers), default=0)
        self.observe(lambda change: self._all_to(change.new), names="step")
        for s in steppers:
            s.observe(self._one_moved, names="step")
        self._all_to(self.step)

    def open(self) -> None:
        """Make the columns, if a page has asked for them: they open at once."""
        if self._is_wanted and not self.children:
            column = ipywidgets.Layout(flex="1 1 360px", min_width="0")
            named = zip(self._titles, self.steppers, strict=True)
            self.children = [ipywidgets.VBox([ipywidgets.Label(name), s] if name else [s], layout=column) for name, s in named]
        super().open()

    def next(self) -> None:
        """One step forward for all steppers that are not at their end."""
        self.step += 1

    def back(self) -> None:
        """One step back."""
        self.step -= 1

    def close(self) -> None:
        """Remove it from the page, with its steppers, and free their graphs."""
        labels = [part for column in self.children for part in column.children if part not in self.steppers]
        layouts = [box.layout for box in (self, *self.children, *labels)]
        styles = [label.style for label in labels]
        for widget in (*self.steppers, *labels, *styles, *self.children, *layouts):
            widget.close()
        super().close()

    def _ipython_display_(self) -> None:
        """Show the live views, and the outputs that stay: Note [Three outputs] in widget.py."""
        from IPython.display import display

        for s in self.steppers:
            s.catch_up()
        display(self._repr_mimebundle_() or {}, raw=True)  # type: ignore[no-untyped-call]
        for s, title in zip(self.steppers, self._titles, strict=True):
            display(s.still(title), raw=True)  # type: ignore[no-untyped-call]
            s.page.show(title)

    def _one_moved(self, change: Any) -> None:
        if not self._following:
            self.step = change.new

    def _all_to(self, step: int) -> None:
        """Move every stepper to `step` or to its own end. A shorter one does not pull the others back."""
        before, self._following = self._following, True
        try:
            for s in self.steppers:
                s.goto_quietly(step)
        finally:
            self._following = before
