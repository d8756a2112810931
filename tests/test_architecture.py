"""The house: imports point down, the front door is exact, torch is nobody's dependency."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import autograd_viz as av

PACKAGE = Path(av.__file__).parent
NAMESPACES = ("accelerator", "backends", "fft", "linalg", "masked", "ops", "special")
# each floor, and the floors it may import from besides itself
FLOORS: dict[str, set[str]] = {
    "alive": set(),
    "errors": set(),
    "interrupts": set(),
    "collector": set(),
    "core": {"errors"},
    "nn": {"core"},
    "optim": {"core"},
    "testing": {"core"},
    "utils": {"autograd", "core"},
    "autograd": {"core"},
    "amp": {"core"},
    "distributions": {"core"},
    "cuda": {"amp", "core"},
    **{namespace: {"core"} for namespace in NAMESPACES},
    "graph": {"errors"},
    "sources": {"alive", "core", "errors", "graph", "interrupts"},
    "layout": {"errors", "graph"},
    "render": {"errors", "graph", "layout", "words"},
    "drawing": {"errors", "graph", "layout", "render"},
    "words": {"errors"},
    "sentences": {"words", "graph"},
    "why": {"words", "sentences", "graph", "reasons"},
    "reasons": {"words", "sentences", "graph"},
    "answers": {"drawing", "errors", "graph", "reasons", "render", "sources", "export", "words"},
    "stops": {"graph", "interrupts"},
    "targets": {"graph", "render"},
    "live_pass": {"graph"},
    "cursor": {"render", "words", "sentences", "graph", "live_pass", "stops"},
    "stepper": {"cursor", "interrupts", "sentences", "graph", "live_pass", "stops", "targets"},
    "export": {"errors", "graph", "interrupts", "layout", "render"},
    "widget": {"alive", "drawing", "interrupts", "stepper", "stops", "graph", "render", "export", "words", "why"},
    "recorded": {"errors", "graph", "render", "stepper"},
    "saving": {"drawing", "errors", "export", "graph", "interrupts", "render", "stepper", "widget"},
    "views": {*("collector", "drawing", "errors", "graph", "sources", "render", "stepper", "export", "recorded", "widget")},
    "files": {
        *("collector", "core", "errors", "graph", "sources", "stepper", "export", "recorded", "saving", "views", "widget")
    },
    "magics": {"errors", "views"},
    "lessons": {"answers", "errors", "graph", "render", "sentences", "sources", "stepper", "why", "widget", "words"},
    "cli": {"errors", "render", "saving", "stepper"},
    "__init__": {
        "amp",
        "answers",
        "autograd",
        "core",
        "cuda",
        "distributions",
        "errors",
        "nn",
        "optim",
        "testing",
        "utils",
        "files",
        "magics",
        "views",
        "words",
        *NAMESPACES,
    },
}


def imported(path: Path) -> Iterator[str]:
    """The floors that a file imports from, relative imports resolved; `from . import x` of a floor's own files left out."""
    inside = path.relative_to(PACKAGE).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = inside[: len(inside) - node.level]
            names = [node.module] if node.module else [a.name for a in node.names]
            yield from ((*base, *name.split("."))[0] for name in names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            yield from (n.split(".")[1] for n in names if n.startswith("autograd_viz."))


def test_imports_point_down() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        floor = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        wrong += [f"{path.name} ({floor}) imports {t}" for t in imported(path) if t not in FLOORS[floor] | {floor}]
    assert not wrong


def test_no_floor_is_its_own_foundation() -> None:
    """The table above has no cycle: floors can be removed one by one, lowest first."""
    left = dict(FLOORS)
    while left:
        lowest = {f for f, below in left.items() if not below & left.keys()}
        assert lowest, left
        left = {f: b for f, b in left.items() if f not in lowest}


PUBLIC_MODULES = {"amp", "autograd", "cuda", "distributions", "nn", "optim", "testing", "utils", *NAMESPACES}


def test_all_is_exact() -> None:
    """Every public name is in __all__, and nothing else is."""
    public = {
        n for n, v in vars(av).items() if not n.startswith("_") and (n in PUBLIC_MODULES or not isinstance(v, ModuleType))
    }
    assert public == set(av.__all__)
    assert len(av.__all__) == len(set(av.__all__))


def test_importing_loads_neither_torch_nor_matplotlib() -> None:
    code = "import sys, autograd_viz; print([m for m in ('torch', 'matplotlib', 'IPython') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['IPython']")


def test_the_graph_needs_the_standard_library_only() -> None:
    for path in (PACKAGE / "graph").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert all(n.split(".")[0] in sys.stdlib_module_names for n in names), (path.name, names)


def test_no_identity_by_address_in_the_graph_side() -> None:
    """`id()` is reused after collection; what is drawn is numbered instead."""
    for floor in ("graph", "sources", "layout", "render", "widget"):
        for path in (PACKAGE / floor).rglob("*.py"):
            assert not re.search(r"(?<![\w.])id\(\w", path.read_text(encoding="utf-8")), path.name


def test_the_map_of_the_core_shows_every_file_once() -> None:
    text = (PACKAGE / "core" / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(([\w/]+\.py)\)", text)
    there = {p.relative_to(PACKAGE / "core").as_posix() for p in (PACKAGE / "core").rglob("*.py") if p.name != "__init__.py"}
    assert set(shown) == there
    assert sorted(n for n in shown if shown.count(n) > 1) == ["ops/elementwise/arithmetic.py"] * 2


def test_no_picture_or_page_lies_about_at_the_top() -> None:
    made = {".svg", ".png", ".pdf", ".html", ".gif", ".apng", ".webp", ".dot", ".mmd", ".json", ".npz"}
    assert [p.name for p in PACKAGE.parent.iterdir() if p.suffix in made] == []
