"""The front end's files, joined: anywidget loads one module and one style sheet."""

from __future__ import annotations

import re
from importlib import resources

ENTRY = "index.js"
STYLES = ("stepper.css", "inspector.css")
IMPORT = re.compile(r'^import [^;]*? from "\./([^"]+)";\n', re.MULTILINE)


def _static(name: str) -> str:
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def module_order() -> list[str]:
    """The files that the entry needs, each after those it imports, itself last."""
    order: list[str] = []

    def visit(name: str) -> None:
        for imported in IMPORT.findall(_static(name)):
            if imported not in order:
                visit(imported)
        order.append(name)

    visit(ENTRY)
    return order


def joined_modules() -> str:
    """The front end as one ES module: imports between our files dropped, only the entry's exports kept."""
    parts = []
    for name in module_order():
        text = IMPORT.sub("", _static(name))
        parts.append(text if name == ENTRY else re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def style_sheets() -> str:
    """All style sheets in one."""
    return "\n".join(map(_static, STYLES))
