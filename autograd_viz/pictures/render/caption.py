"""Words under a picture."""

from __future__ import annotations

import re

from ..layout.measure import ADVANCE, columns
from .escape import element, text
from .theme import Theme

SIZE = 13.0  # px
PITCH = 20.0
MARGIN = 12.0
# units that stay on one line: a word and its space; without spaces, a letter and the punctuation after it
WIDE, STOPS = "\u2e80-\u2fff\u3040-\ufaff\uff10-\uff5a", "\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
PIECE = rf"[{WIDE}][{STOPS}]*\s*|[^\s{WIDE}]+\s*|\s+"  # compiled when a caption needs it: 4 ms


def caption_lines(words: str, width: float) -> list[str]:
    """The words in lines that fit `width` px."""
    most = max(20, int((width - 2 * MARGIN) / (SIZE * ADVANCE)))
    lines = [""]
    for piece in re.findall(r"\S+\s*|\s+" if words.isascii() else PIECE, words):
        for start in range(0, len(piece), most):  # an unbreakable text is broken anywhere
            part = piece[start : start + most]
            if lines[-1] and (columns(lines[-1] + part.rstrip()) > most or len(lines[-1]) > 8 * most):
                lines.append("")
            lines[-1] += part if lines[-1] else part.lstrip()
    return [line.rstrip() for line in lines if line.strip()]


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
