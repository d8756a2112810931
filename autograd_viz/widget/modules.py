"""The front end's files, joined: anywidget loads one module and one style sheet."""

from __future__ import annotations

import re
from importlib import resources

# in this order, each after those it imports
MODULES = ("draw.js", "picture.js", "theme.js", "still.js", "controls.js", "keys.js", "index.js")
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
