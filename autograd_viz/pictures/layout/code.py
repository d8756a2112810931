"""The user's code at the far left, each statement level with the boxes that it made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from math import inf

from ...graph.model import Document
from .geometry import CodeLine
from .ladder import Ladder
from .measure import columns, cut

COLUMNS = 24  # a statement is wrapped beyond this
MOST = 8 * COLUMNS  # letters of a line: some take no column
LINE, PARAGRAPH = 1.45, 0.45  # between lines, and more between statements: in the size of the letters
MARGIN = 30  # px between the code and the boxes
MAX_LINES = 6  # of one statement
LONGEST = 48  # columns of text that cannot be broken


@lru_cache(maxsize=1024)  # a figure is laid out for each detail
def wrapped(statement: str) -> tuple[str, ...]:
    """A statement with its own line breaks. A line over COLUMNS is broken after a comma, a bracket or a space. The rest is left
    out after MAX_LINES, or where a line cannot be broken for too long. The last line says so.
    """
    lines: list[str] = []
    for own in statement.split("\n"):
        line = ""
        for word in re.findall(r"[^\s,(\[]*[\s,(\[]?", own):
            if line and (columns((line + word).strip()) > COLUMNS or len(line) > MOST):
                lines.append(line.strip())
                line = ""
            line += word
        lines.append(line.strip())
    for i, line in enumerate(lines[:MAX_LINES]):
        if (shown := cut(line, LONGEST)) != line:
            return (*lines[:i], shown, "…")
    return tuple(lines) if len(lines) <= MAX_LINES else (*lines[: MAX_LINES - 1], "…")


def code_lines(document: Document, row_of: Mapping[str, int], left: Ladder, size: float) -> tuple[CodeLine, ...]:
    """Statements beside the tensors that they made, in order, in letters of `size` px; they never overlap."""
    line, paragraph = round(LINE * size), round(PARAGRAPH * size)
    edge = min((p.x for line in left.rows for p in line), default=0.0) - MARGIN
    lines: list[CodeLine] = []
    y = -inf
    for statement in sorted(document.statements, key=lambda s: row_of[s.tensor]):
        y = max(y + paragraph, left.top[row_of[statement.tensor]] + line)
        for text in wrapped(statement.text):
            lines.append(CodeLine(text, statement.kind, edge, y, size))
            y += line
    return tuple(lines)
