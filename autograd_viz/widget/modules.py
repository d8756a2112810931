"""The front end's files, joined: anywidget loads one module and one style sheet."""

from __future__ import annotations

import bz2
import json
import posixpath
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

ENTRY = "stepper/stepper.js"
STYLES = (
    "stepper/stepper.css", "shared/unseen.css", "stage/stage.css", "stepper/present.css", "figure/picture.css", "map/map.css",
    "code/code.css", "panel/inspector.css", "panel/engine.css", "shared/heatmap.css", "sentence/formulas.css",
    "panel/debugger.css", "stepper/compare.css",
)  # fmt: skip
# comments on lines of their own, empty lines, and what stands before a line; no text of ours goes over several lines
COMMENT = re.compile(r"^[ \t]*(?:(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)?[ \t]*\n|(?=\S))", re.MULTILINE)
IMPORT = re.compile(r'^import [^;]*? from "(\.[^"]+)";\n', re.MULTILINE)
CSS_COMMENT = re.compile(r"[ \t]*/\*.*?\*/|^[ \t]+", re.DOTALL | re.MULTILINE)


def packed(static: Path) -> bytes:
    """The folder `static` as JSON: each file's path and its text without comments. A wheel has this in place of the folder.

    One text of much alike is a fifth smaller by bz2 than as a wheel packs it.
    """
    bare = {".js": COMMENT, ".css": CSS_COMMENT, ".html": re.compile("(?!)")}
    files = sorted(file for file in static.rglob("*") if file.suffix in bare)
    texts = {f.relative_to(static).as_posix(): bare[f.suffix].sub("", f.read_text(encoding="utf-8")) for f in files}
    return bz2.compress(json.dumps(texts, ensure_ascii=False).encode())


@cache
def _from_wheel() -> dict[str, str]:
    file = resources.files(__package__) / "static.json.bz2"
    return dict(json.loads(bz2.decompress(file.read_bytes()))) if file.is_file() else {}


def static_text(name: str) -> str:
    """One of the front end's files, by its path in `static`."""
    return _from_wheel().get(name) or (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def imports_of(name: str) -> list[str]:
    """The files that one imports."""
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) for path in IMPORT.findall(static_text(name))]


def module_order(entry: str = ENTRY) -> list[str]:
    """The files that an entry needs, each after those it imports, itself last."""
    order: list[str] = []

    def visit(name: str) -> None:
        for imported in imports_of(name):
            if imported not in order:
                visit(imported)
        order.append(name)

    visit(entry)
    return order


def joined_modules(entry: str = ENTRY) -> str:
    """The front end as one ES module: without imports between our files, and with only the entry's exports.

    Comments are removed, as every widget sends the module. A file's default export is called `stepper` where it is imported.
    """
    parts = []
    for name in module_order(entry):
        text = COMMENT.sub("", IMPORT.sub("", static_text(name)))
        text = text if name == entry else re.sub(r"^export default ", "const stepper = ", text, flags=re.MULTILINE)
        parts.append(text if name == entry else re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def style_sheets(names: Sequence[str] = STYLES) -> str:
    """Style sheets in one, without comments."""
    return CSS_COMMENT.sub("", "\n".join(map(static_text, names)))
