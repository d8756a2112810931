"""The house as its imports show it: rooms, and which may import from which."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import autograd_viz as av

PACKAGE = Path(av.__file__).parent
# each room of the package, from the bottom up, and the rooms that it imports from
FLOORS: dict[str, set[str]] = {
    "errors": set(),
    "graph": {"errors"},
    "runtime": {"errors"},
    "words": {"errors"},
    "answers": {"graph", "words"},
    "twin": {"errors", "runtime"},
    "pictures": {"answers", "errors", "graph", "words"},
    "sources": {"errors", "graph", "runtime", "twin"},
    "stepper": {"answers", "errors", "graph", "pictures", "runtime", "words"},
    "widget": {"answers", "graph", "pictures", "runtime", "stepper", "words"},
    "verbs": {"answers", "errors", "graph", "pictures", "runtime", "sources", "stepper", "twin", "widget", "words"},
    "__init__": {"errors", "runtime", "twin", "verbs", "words"},
    "lessons": {"answers", "errors", "graph", "pictures", "sources", "stepper", "verbs", "widget", "words"},
    "site": {"errors", "widget", "words"},
    "cli": {"errors", "graph", "pictures", "site", "sources", "stepper", "verbs", "widget", "words"},
    "__main__": {"cli"},
}
# the same inside of the rooms that have rooms; "" is what stands in the room itself
INSIDE: dict[str, dict[str, set[str]]] = {
    "pictures": {
        "layout": set(),
        "render": {"layout"},
        "files": {"layout", "render"},
        "runs": {"render"},
        "maps": {"files", "layout", "render"},
        "differences": {"layout", "maps", "render"},
        "jobs": {"layout", "maps", "render"},
        "memory": {"layout", "maps", "render"},
        "times": {"layout", "maps", "render"},
    },
    "answers": {"sentences": set(), "causes": {"sentences"}, "checks": {"causes", "sentences"}},
    "sources": {
        "shared": set(),
        "shared/run": set(),
        "shared/stepping": {"shared"},
        "twin": {"shared", "shared/run", "shared/stepping"},
        "pytorch/reading": {"shared"},
        "pytorch/recording": {"pytorch/reading", "shared"},
        "pytorch/stepping": {"pytorch/reading", "pytorch/recording", "shared", "shared/stepping"},
        "pytorch/asking": {"pytorch/reading", "pytorch/recording", "pytorch/stepping", "shared"},
        "pytorch/run": {"pytorch/reading", "pytorch/recording", "shared", "shared/run"},
        "pytorch/ranks": {"pytorch/reading", "pytorch/recording", "pytorch/stepping", "shared/run", "shared/stepping"},
        "pytorch/timing": {"pytorch/reading", "pytorch/recording", "pytorch/stepping"},
        "": {"pytorch/asking", "pytorch/reading", "pytorch/run", "pytorch/stepping", "shared", "shared/stepping", "twin"},
    },
    "twin": {
        "core": set(),
        "amp": {"core"},
        "autograd": {"core"},
        "distributions": {"core"},
        "nn": {"core"},
        "testing": {"core"},
        "optim": {"core", "nn"},
        "utils": {"autograd", "core"},
        "pytorchs_name": set(),
        "names": {"core", "pytorchs_name"},
        "namespaces": {"amp", "core"},
        "other_paths": {"autograd", "distributions", "namespaces", "nn", "optim"},
    },
}

Module = tuple[str, ...]


def modules() -> dict[Module, Path]:
    """Every file of the package by the parts of its module's name."""
    found = {p.relative_to(PACKAGE).with_suffix("").parts: p for p in PACKAGE.rglob("*.py")}
    return {m[:-1] if m[-1] == "__init__" else m: p for m, p in found.items()}


MODULES = modules()


@cache
def tree_of(path: Path) -> ast.Module:
    """A file's syntax tree, which several tests read."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_names(module: Module) -> Iterator[tuple[Module, str, str]]:
    """What a file imports from others of the package: the file or folder, the name there, and the name here."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            named = tuple((node.module or "").split(".")) if node.module else ()
            base = (*package[: len(package) - node.level + 1], *named) if node.level else named[1:]
            if node.level or named[:1] == ("autograd_viz",):
                yield from ((base, name.name, name.asname or name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                (tuple(n.name.split(".")[1:]), "", n.asname or n.name) for n in node.names if n.name.startswith("autograd_viz.")
            )


def imported(module: Module) -> Iterator[Module]:
    """The files that a file imports, early, late or for types."""
    for base, name, _ in imported_names(module):
        yield (*base, name) if (*base, name) in MODULES else base


@cache
def imports() -> dict[Module, set[Module]]:
    """What each file imports of the package. (It reads all files: seconds, so not when tests are collected.)"""
    return {module: {m for m in imported(module) if m in MODULES and m != module} for module in MODULES}


def room(module: Module) -> str:
    """A folder or a file at the root."""
    return module[0] if module else "__init__"


def room_inside(module: Module) -> str | None:
    """A room in a room that has several; None for the ``__init__.py`` around them."""
    top, inside = module[0], module[1:]
    for parts in (2, 1):
        if "/".join(inside[:parts]) in INSIDE[top]:
            return "/".join(inside[:parts])
    return "" if "" in INSIDE[top] and MODULES[module].name != "__init__.py" else None


def arrows_between(rooms: Mapping[Module, str | None]) -> set[tuple[str, str]]:
    """Which room imports from which."""
    pairs = {(rooms[a], rooms.get(b)) for a in rooms for b in imports()[a]}
    return {(a, b) for a, b in pairs if a is not None and b is not None and a != b}


def without_detours(floors: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that say all: where one leads on to a room, a second arrow to that room is left out."""
    below: dict[str, set[str]] = {}
    for name in floors:  # from the bottom up
        below[name] = floors[name].union(*(below[b] for b in floors[name]))
    return {name: {b for b in to if not any(b in below[other] for other in to)} for name, to in floors.items()}
