"""Two passes side by side in a notebook: one cursor on both maps."""

from __future__ import annotations

import secrets
from typing import Any

import anywidget
import traitlets

from .modules import joined_modules, style_sheets
from .quiet import Quiet, QuietLayout


class DiffWidget(Quiet, anywidget.AnyWidget):
    """The page of `diff` in a cell.

    Args:
        data: of the page (`Difference.page`).

    Attributes:
        mark: the class of the picture that the page hides while it is there.
    """

    _esm = joined_modules("diff/diff.js")
    _css = style_sheets(("shared/unseen.css", "diff/diff.css"))
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, data: dict[str, Any]) -> None:
        self.mark = f"av-still-{secrets.token_hex(8)}"
        super().__init__(data={**data, "mark": self.mark}, layout=QuietLayout())
