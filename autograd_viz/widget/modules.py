"""The front end's files, joined: anywidget loads one module and one style sheet."""

from __future__ import annotations

import re
from importlib import resources

# in this order, each after those it imports
MODULES = (
    "words.js", "draw.js", "elements.js", "runner.js", "picture.js", "theme.js", "still.js", "graph.js", "code_lines.js",
    "forward.js", "stops.js", "viewport.js", "gestures.js", "marks.js", "minimap.js", "neighbours.js", "stage.js", "keys.js",
    "popup.js", "help.js", "stops_menu.js", "search.js", "split.js", "controls.js", "said.js", "walks.js",
    "no_inspector.js", "index.js",
)  # fmt: skip
STYLES = ("stepper.css",)


def _static(name: str) -> str:
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def joined_modules() -> str:
    """The front end as one ES module: imports between our files dropped, only the last file's exports kept."""
    parts = []
    for name in MODULES:
        text = re.sub(r'^import [^;]*? from "\./[^"]+";\n', "", _static(name), flags=re.MULTILINE)
        parts.append(text if name == MODULES[-1] else re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def style_sheets() -> str:
    """All style sheets in one."""
    return "\n".join(map(_static, STYLES))
