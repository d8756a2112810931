"""The source of a front end, which a notebook stores once, however many widgets it has.

# Note [One source]
anywidget keeps the source of a widget in its state, and a notebook keeps the state of each widget. So our widgets send a
loader (static/page/source_loader.js), and the name of a model that holds the source and the style. The widgets of a kind share
it. It lives as long as the kernel: no widget closes it. In marimo no widget reaches another's model: there each sends its
source.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, ClassVar

import anywidget
import ipywidgets
import traitlets
from ipywidgets.widgets.widget import widget_serialization

from .modules import joined_modules, style_sheets
from .quiet import Quiet


class FrontEnd(Quiet, ipywidgets.Widget):  # type: ignore[misc]
    """The model that the widgets of a kind share; it has no view."""

    kind = traitlets.Unicode().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)


class OneSource(anywidget.AnyWidget):
    """A widget that sends a loader: see Note [One source]. A class names its entry and its style sheets."""

    entry: ClassVar[str]
    styles: ClassVar[tuple[str, ...]]
    front_end: Any = traitlets.Instance(FrontEnd, allow_none=True).tag(sync=True, **widget_serialization)

    def __init__(self, **values: Any) -> None:
        self._esm, self._css = _source(self.entry, self.styles) if _is_in_marimo() else _source("page/source_loader.js", ())
        super().__init__(**values)

    def open(self) -> None:
        """Open the comm, with what the widgets of this kind share by then: `Widget.close_all()` closes that, too."""
        self.front_end = self._now_shared()
        super().open()

    @traitlets.default("front_end")
    def _now_shared(self) -> FrontEnd | None:
        return None if _is_in_marimo() else _shared(self.entry, self.styles)


_made: dict[str, FrontEnd] = {}  # by entry


@cache
def _source(entry: str, styles: tuple[str, ...]) -> tuple[str, str]:
    return joined_modules(entry), style_sheets(styles)


def _shared(entry: str, styles: tuple[str, ...]) -> FrontEnd:
    """The model of a kind, anew if somebody has closed it."""
    made = _made.get(entry)
    if made is None or made.is_closed:
        source, style = _source(entry, styles)
        made = _made[entry] = FrontEnd(kind=entry.rpartition("/")[2].removesuffix(".js"), source=source, style=style)
    return made


def _is_in_marimo() -> bool:
    marimo = sys.modules.get("marimo")
    return marimo is not None and marimo.running_in_notebook()
