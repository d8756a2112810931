"""A picture with its sentences and tables: in a notebook, as a page, as files."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .. import words
from ..pictures.files.cell import cell_bundle
from ..pictures.render import theme_named
from ..pictures.render.escape import printable

if TYPE_CHECKING:
    from pandas import DataFrame

Records = list[dict[str, Any]]
Columns = dict[str, list[Any]]
Table = TypeVar("Table", Records, Columns)
MOST_ROWS = 2000  # of a table in a page


class Paged(ABC):
    """What a verb found."""

    partners: Mapping[str, str] = {}
    """Cards that are lit together."""

    def __init__(self, theme: str) -> None:
        self._theme = theme

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is."""

    @property
    @abstractmethod
    def sentences(self) -> list[str]:
        """The answer."""

    @abstractmethod
    def svg_in(self, theme: str) -> str:
        """The picture in a theme."""

    @abstractmethod
    def tables(self) -> Sequence[tuple[str, Records]]:
        """Titles and records of a page."""

    @property
    def svg(self) -> str:
        """The picture."""
        return self.svg_in("light" if self._theme == "auto" else self._theme)

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page, in a theme or in both."""
        chosen = self._theme if theme == "auto" else theme
        themes = ("light", "dark") if chosen == "auto" else (chosen,)
        return {
            "title": self.title,
            "pictures": {name: self.svg_in(name) for name in themes},
            "palettes": {name: theme_named(name).colours() for name in themes},
            "partners": dict(self.partners),
            "sentences": self.sentences,
            "tables": [{"title": title, "rows": rows[:MOST_ROWS]} for title, rows in self.tables()],
            "help": words.DIFF_HELP,
            "language": words.language(),
        }

    def _ipython_display_(self) -> None:
        """Show the page, and the picture that stays in the notebook."""
        from IPython import get_ipython

        from ..widget.data_widgets import DiffWidget

        if not hasattr(get_ipython(), "kernel"):
            print(self)  # in a terminal
            return
        widget = DiffWidget(self.page())
        show_live(widget, str(self), cell_bundle(self.svg, str(self), widget.mark))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, str(self))

    def __str__(self) -> str:
        return printable("\n".join(self.sentences))


def show_live(widget: Any, text: str, still: dict[str, Any]) -> None:
    """Show a widget, with a text for what has none, and the picture that stays in the notebook."""
    from IPython.display import display

    live, metadata = widget._repr_mimebundle_() or ({}, {})
    display({**live, "text/plain": text}, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
    display(still, raw=True)  # type: ignore[no-untyped-call]


def as_frame(table: Table) -> DataFrame | Table:
    """Records, or columns by name, as a pandas.DataFrame; as they are if pandas is not installed."""
    try:
        return importlib.import_module("pandas").DataFrame(table)
    except ModuleNotFoundError:
        return table
