"""Words under a picture."""

from __future__ import annotations

import textwrap

from ..layout.measure import ADVANCE
from .escape import element, text
from .theme import Theme

SIZE = 13.0  # px
PITCH = 20.0
MARGIN = 12.0


def caption_lines(words: str, width: float) -> list[str]:
    """The words in lines that fit `width` px."""
    return textwrap.wrap(words, max(20, int((width - 2 * MARGIN) / (SIZE * ADVANCE))))


def caption_height(lines: list[str]) -> float:
    """How much taller the picture gets, in px."""
    return len(lines) * PITCH + MARGIN if lines else 0.0


def caption_elements(lines: list[str], left: float, top: float, theme: Theme) -> list[str]:
    """The lines as text elements, from the lower edge of the picture down."""
    fill = theme.colours()["text"]
    return [
        element("text", text(line), x=left + MARGIN, y=top + (i + 0.7) * PITCH, font_size=SIZE, fill=fill, class_="f-text")
        for i, line in enumerate(lines)
    ]
