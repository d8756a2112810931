"""The front end's folders: each imports only from those below it, also types. What the page reads is sent to it."""

from __future__ import annotations

import posixpath
import re

from autograd_viz.widget.data_widgets import DiffWidget, RunWidget
from autograd_viz.widget.widget import StepperWidget

from ..house import PACKAGE

STATIC = PACKAGE / "widget" / "static"
FILES = {p.relative_to(STATIC).as_posix(): p for p in STATIC.rglob("*.js")}
# each folder, from the bottom up, and the folders that it imports from
FLOORS: dict[str, set[str]] = {
    "page": set(),
    "shared": set(),
    "diff": {"page", "shared"},
    "pass": {"shared"},
    "question": {"page", "shared"},
    "run": {"page", "shared"},
    "code": {"pass", "shared"},
    "figure": {"pass", "shared"},
    "sentence": {"pass", "shared"},
    "map": {"figure", "pass", "shared"},
    "panel": {"code", "map", "pass", "shared"},
    "stage": {"figure", "map", "pass", "shared"},
    "toolbar": {"map", "pass", "shared"},
    "stepper": {"code", "figure", "map", "page", "panel", "pass", "sentence", "shared", "stage", "toolbar"},
    "explore": {"page", "pass", "shared", "stage", "stepper", "toolbar"},
}


def arrows() -> set[tuple[str, str]]:
    """Which folder imports from which."""
    found = set()
    for name, path in FILES.items():
        here = posixpath.dirname(name)
        for to in re.findall(r'(?:from |import\()"(\.[^"]+)"', path.read_text(encoding="utf-8")):
            target = posixpath.normpath(posixpath.join(here, to))
            assert target in FILES, f"{name} imports {to}"
            found.add((here, posixpath.dirname(target)))
    return {(a, b) for a, b in found if a != b}


def test_imports_of_the_front_end_point_down() -> None:
    assert arrows() == {(a, b) for a, below in FLOORS.items() for b in below}
    order = list(FLOORS)
    assert all(order.index(below) < order.index(name) for name in FLOORS for below in FLOORS[name])


def test_what_the_page_reads_is_sent_to_it() -> None:
    read = {name for path in FILES.values() for name in re.findall(r'model\.get\("(\w+)"\)', path.read_text(encoding="utf-8"))}
    assert {"frames", "error", "data"} <= read
    for kind in (StepperWidget, RunWidget, DiffWidget):
        assert [name for name, trait in kind.class_traits().items() if name in read and not trait.metadata.get("sync")] == []
