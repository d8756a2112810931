"""Two passes side by side in a notebook: one cursor on both maps."""

from __future__ import annotations

import secrets
from typing import Any

import traitlets

from .front_end import OneSource
from .quiet import Quiet, QuietLayout


class DiffWidget(Quiet, OneSource):
    """The page of `diff` in a cell.

    Args:
        data: of the page (`Difference.page`).

    Attributes:
        mark: the class of the picture that the page hides while it is there.
    """

    entry, styles = "diff/diff.js", ("shared/unseen.css", "diff/diff.css")
    data = traitlets.Dict().tag(sync=True)

    def __init__(self, data: dict[str, Any]) -> None:
        self.mark = f"av-still-{secrets.token_hex(8)}"
        super().__init__(data={**data, "mark": self.mark}, layout=QuietLayout())
