"""How our widgets reach a page: late, and with a source that a notebook stores once, however many widgets it has. After every
cell, pictures are compared with what the cell has changed.

# Note [A widget that nobody has shown]
ipywidgets holds every widget that has a comm, for as long as the kernel lives. A stepper that only code uses would keep its
graph. So our widgets get their comm when a page asks for them: every way to show a widget reads `model_id`. Until then
`ipywidgets.embed` does not find them among all widgets; it needs `state=dependency_state(views)`.

# Note [One source]
anywidget keeps the source of a widget in its state, and a notebook keeps the state of each widget. So our widgets send a
loader (static/page/source_loader.js), and the name of a model that holds the source and the style. The widgets of a kind share
it. It lives as long as the kernel: no widget closes it. In marimo no widget reaches another's model: there each sends its
source.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, TypeVar

import anywidget
import ipywidgets
import traitlets
from ipywidgets.widgets.widget import widget_serialization

from ..runtime.alive import Alive
from ..runtime.uncopied import Uncopied
from .modules import joined_modules, style_sheets


class Quiet(Uncopied, ipywidgets.Widget):  # type: ignore[misc]
    """Opens a widget late. Its destructor is in C: Note [A destructor loses what it raises] in interrupts.py."""

    __del__ = object.__hash__
    _is_wanted = False

    def open(self) -> None:
        """Open the comm, if a page has asked for it."""
        if self._is_wanted:
            super().open()

    @property
    def model_id(self) -> Any:
        """The name by which a page knows the widget."""
        if self.comm is None and not self._is_wanted:
            self._is_wanted = True
            self.open()
        return super().model_id

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """What a notebook shows of it. (Newer ipywidgets read `_model_id` for it.)"""
        _ = self.model_id
        return super()._repr_mimebundle_(**options)

    def get_view_spec(self) -> Any:
        """What a saved page shows of it."""
        return {**super().get_view_spec(), "model_id": self.model_id}

    @property
    def is_closed(self) -> bool:
        """Was it closed, so that it opens no more?"""
        return self._is_wanted and self.comm is None

    def close(self) -> None:
        """Close the comm. A widget that is closed opens no more."""
        self._is_wanted = True
        super().close()


class QuietLayout(Quiet, ipywidgets.Layout):  # type: ignore[misc]
    """The layout of our widgets."""


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


class FramesTrait(traitlets.List):  # type: ignore[type-arg]
    """The frames of a widget. They are made when somebody reads them: a page, or code that saves the widget."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        """The list, with a frame for every step that has run."""
        return obj.view.frames()


def show_live(widget: OneSource, text: str, *stills: dict[str, Any]) -> None:
    """Show a widget, with a text for what has none, and the outputs that stay in the notebook."""
    from IPython.display import display

    live, metadata = widget._repr_mimebundle_() or ({}, {})
    display({**live, "text/plain": text}, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
    for still in stills:
        display(still, raw=True)  # type: ignore[no-untyped-call]


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


Widget = TypeVar("Widget")
_watched: Alive[Callable[[Any], None]] = Alive()
_shell: Any = None


def watch(widget: Widget, refresh: Callable[[Widget], None]) -> None:
    """Refresh a widget after every cell, as long as it is alive. Outside IPython nothing happens."""
    global _shell
    _watched[widget] = refresh
    with contextlib.suppress(ImportError):
        from IPython.core.getipython import get_ipython

        shell: Any = get_ipython()
        if shell is not None and shell is not _shell:
            shell.events.register("post_run_cell", _after_cell)
            _shell = shell


def _after_cell(*_: Any) -> None:
    for widget, refresh in _watched.items():
        with contextlib.suppress(Exception):  # the user's cell must not fail because of a picture
            refresh(widget)
