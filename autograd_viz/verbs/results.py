"""A picture with its sentences and tables: in a notebook, as a page, as files."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .. import words
from ..pictures.files.cell import cell_bundle
from ..pictures.render import printable, theme_named

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..widget.data_widgets import DiffWidget

Records = list[dict[str, Any]]
Columns = dict[str, list[Any]]
Table = TypeVar("Table", Records, Columns)
Framed: TypeAlias = "DataFrame | Table"  # of pandas, if that is installed
MOST_ROWS = 2000  # of a table in a page


class Result(ABC):
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

    def _display_(self) -> DiffWidget:
        """What marimo shows."""
        from ..widget.data_widgets import DiffWidget

        return DiffWidget(self.page())

    def _ipython_display_(self) -> None:
        """Show the page, and the picture that stays in the notebook."""
        show_in_cell(str(self), self._display_, lambda mark: cell_bundle(self.svg, str(self), mark))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, str(self))

    def __str__(self) -> str:
        return printable("\n".join(self.sentences))


def show_in_cell(text: str, widget: Callable[[], Any], still: Callable[[str], dict[str, Any]]) -> None:
    """Show a widget, and the picture that stays in the notebook, which the widget finds by its mark; in a terminal the text."""
    from IPython import get_ipython

    if not hasattr(get_ipython(), "kernel"):
        print(text)
        return
    from ..widget.front_end import show_live

    live = widget()
    show_live(live, text, still(live.mark))


def as_frame(table: Table) -> Framed[Table]:
    """Records, or columns by name, as a pandas.DataFrame; as they are if pandas is not installed."""
    try:
        return importlib.import_module("pandas").DataFrame(table)
    except ModuleNotFoundError:
        return table
