"""The house: imports point down, the front door is exact, torch is nobody's dependency."""

from __future__ import annotations

import ast
import html
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz import twin
from autograd_viz.twin import names
from autograd_viz.twin.core.base.public import names_of

from .house import (
    FLOORS,
    INSIDE,
    MODULES,
    PACKAGE,
    Module,
    arrows_between,
    imported_names,
    imports,
    room,
    room_inside,
    tree_of,
    without_detours,
)

ROOT = PACKAGE.parent

NAMESPACES = {
    *("accelerator", "backends", "cuda", "fft", "func", "functional", "linalg", "multiprocessing", "random"),
    *("special", "version"),
}
# concrete classes from which only one other inherits; nothing is added here
SINGLE_CHILD = {
    "graph/trace.py: _MadeWhenRead",
    "sources/pytorch/reading/found_graph.py: FoundGraph",
    "sources/pytorch/reading/op_log.py: Event",
    "sources/pytorch/reading/op_pages.py: OpRecord",
    "sources/pytorch/reading/op_pages.py: Ops",
    "sources/pytorch/stepping/node_pass.py: TorchPass",
    "sources/shared/replacement.py: Replacement",
    "sources/twin/history.py: CoreEvent",
}
# what does its work in more than 30 lines; nothing is added here
LONG_FUNCTIONS = {
    "twin/core/backward/backward.py: first_gradient",
    "twin/core/backward/engine.py: run_plain",
    "twin/core/ops/layers/multi_head.py: multi_head_attention_forward",
}
# in the core, from the bottom up: a chapter reads the ones before it
CORE = ("twin", "core")
CHAPTERS = ["base", "tensor", "backward", "op", "ops", "ops_more", "inplace", "function", "methods"]


def lowest_first(arrows: dict[Any, set[Any]]) -> list[Any]:
    """Take away what imports only what is gone; what is left are the circles, and what stands on them."""
    left = dict(arrows)
    while lowest := [m for m, below in left.items() if not below & left.keys()]:
        for module in lowest:
            del left[module]
    return sorted(left)


def in_order(floors: Mapping[str, set[str]]) -> bool:
    """Does each room stand above those that it imports from?"""
    order = list(floors)
    return all(order.index(below) < order.index(name) for name in floors for below in floors[name])


def test_imports_point_down() -> None:
    assert arrows_between({m: room(m) for m in MODULES}) == {(a, b) for a, below in FLOORS.items() for b in below}
    assert in_order(FLOORS)


@pytest.mark.parametrize("top", INSIDE)
def test_imports_point_down_inside_of_a_room(top: str) -> None:
    rooms = {m: room_inside(m) for m in MODULES if m[:1] == (top,) and m[1:]}
    assert set(rooms.values()) - {None} == set(INSIDE[top])
    assert arrows_between(rooms) == {(a, b) for a, below in INSIDE[top].items() for b in below}
    assert in_order(INSIDE[top])


def test_the_picture_and_the_list_show_these_rooms() -> None:
    """``python .ci/draw_house.py`` draws the picture."""
    picture = (ROOT / "docs" / "pictures" / "house.svg").read_text(encoding="utf-8")
    arrows = {tuple(html.unescape(a).split("->")) for a in re.findall(r"<title>([^<]*&gt;[^<]*)</title>", picture)}
    assert arrows == {(a, b) for a, below in without_detours(FLOORS).items() for b in below}
    rows = re.findall(
        r"^\| (`.*`) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Write plainly")[0], re.M
    )
    listed = [name.removesuffix(".py") for row in rows for name in re.findall(r"`([\w.]+)`", row)]
    assert in_order({name: FLOORS[name] - {"__init__"} for name in reversed(listed)})
    assert {*listed, "__init__"} == set(FLOORS)


def test_no_file_imports_itself_over_others() -> None:
    """Not for types, and not inside a function either."""
    assert lowest_first({m: below for m, below in imports().items() if MODULES[m].name != "__init__.py"}) == []


def test_a_chapter_of_the_core_reads_those_before_it() -> None:
    place = {name: i for i, name in enumerate(CHAPTERS)}
    inside = {m: {b for b in below if b[:2] == CORE and len(b) > 2} for m, below in imports().items() if m[:2] == CORE}
    wrong = [(m, b) for m, below in inside.items() if len(m) > 2 for b in below if place[b[2]] > place[m[2]]]
    assert not wrong


def test_what_stands_at_the_root_is_public() -> None:
    assert {p.stem for p in PACKAGE.glob("*.py")} == {"__init__", "__main__", "errors"}


PUBLIC_MODULES = {"amp", "autograd", "distributions", "nn", "optim", "testing", "utils", *NAMESPACES}


def test_all_is_exact() -> None:
    """Every public name of the twin is in __all__, and nothing else is; at the front door stand the verbs and errors, too."""
    assert all(hasattr(twin, n) for n in twin.__all__)
    public = {n for n, v in vars(names).items() if n[0] != "_" and not isinstance(v, ModuleType)}
    assert public | PUBLIC_MODULES | {"autocast", "vmap"} | {n for n in names_of("torch") if n[0] != "_"} == set(twin.__all__)
    assert len(twin.__all__) == len(set(twin.__all__))
    assert {*twin.__all__} < {*av.__all__}
    assert all(hasattr(av, n) for n in {*av.__all__} - {*twin.__all__})


def test_importing_loads_what_every_program_needs_and_no_more() -> None:
    code = "import sys, autograd_viz as av; av.tensor(1); print(*{m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "scipy", "ipywidgets", "anywidget", "IPython", "PIL", "resvg", "graphviz", "jsonschema"}
    assert heavy.isdisjoint(done.stdout.split())
    assert "numpy" in done.stdout.split()


def test_the_package_says_that_it_has_types() -> None:
    """A user's program is checked by mypy: tests/typed.py."""
    assert (PACKAGE / "py.typed").is_file()


def test_the_graph_needs_the_standard_library_only() -> None:
    for path in (PACKAGE / "graph").glob("*.py"):
        for node in ast.walk(tree_of(path)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert all(n.split(".")[0] in sys.stdlib_module_names for n in names), (path.name, names)


def test_no_identity_by_address_in_the_graph_side() -> None:
    """`id()` is reused after collection; what is drawn is numbered instead."""
    for floor in ("graph", "sources", "pictures", "widget"):
        for path in (PACKAGE / floor).rglob("*.py"):
            assert not re.search(r"(?<![\w.])id\(\w", path.read_text(encoding="utf-8")), path.name


def test_the_map_of_the_core_shows_every_file_once() -> None:
    text = (PACKAGE / "twin" / "core" / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(([\w/]+\.py)\)", text)
    there = {
        p.relative_to(PACKAGE / "twin" / "core").as_posix()
        for p in (PACKAGE / "twin" / "core").rglob("*.py")
        if p.name != "__init__.py"
    }
    assert set(shown) == there
    assert sorted(n for n in shown if shown.count(n) > 1) == ["ops/elementwise/arithmetic.py"] * 2


def test_the_way_from_a_product_to_a_stepped_pass_is_1500_lines() -> None:
    text = (PACKAGE / "twin" / "core" / "README.md").read_text(encoding="utf-8")
    way = re.findall(r"\]\(([\w/]+\.py)\)", text[text.index("1. ") : text.index("Around it:")])
    lines = sum(len((PACKAGE / "twin" / "core" / name).read_text(encoding="utf-8").splitlines()) for name in way)
    assert way[-1] == "backward/engine.py"
    assert lines <= 1500


def is_abstract(node: ast.ClassDef) -> bool:
    """Does it say that others fill it in?"""
    return bool(
        {"ABC", "Protocol"} & {ast.unparse(b).partition("[")[0] for b in node.bases}
    ) or "abstractmethod" in ast.unparse(node)


def children() -> dict[str, set[str]]:
    """By concrete class of the package ("room/file.py: Name"), those that inherit from it."""
    classes, names = dict[tuple[Module, str], ast.ClassDef](), dict[tuple[Module, str], tuple[Module, str]]()
    for module, path in MODULES.items():
        tree = tree_of(path)
        classes |= {(module, n.name): n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        names |= {(module, new): (base, old) for base, old, new in imported_names(module)}
    found: dict[str, set[str]] = {}
    for (module, name), node in classes.items():
        for base in node.bases:
            at = (module, ast.unparse(base).partition("[")[0])
            while at not in classes and at in names:
                at = names[at]
            if at in classes and not is_abstract(classes[at]):
                found.setdefault(f"{MODULES[at[0]].relative_to(PACKAGE).as_posix()}: {at[1]}", set()).add(name)
    return found


def test_no_class_is_there_for_a_single_one_below_it() -> None:
    """Parts are held. In the twin, classes inherit as PyTorch's do, for a user's classes to inherit from them."""
    single = {name for name, below in children().items() if len(below) == 1 and not name.startswith("twin/")}
    assert single == SINGLE_CHILD


def function_lengths() -> Iterator[tuple[str, int]]:
    """Where and what each function is called, and the lines of what it does: without its signature and docstring."""
    for path in MODULES.values():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[ast.get_docstring(node, clean=False) is not None :]
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                yield f"{path.relative_to(PACKAGE).as_posix()}: {node.name}", lines


def test_functions_are_short() -> None:
    lengths = list(function_lengths())
    assert {name for name, lines in lengths if lines > 30} == LONG_FUNCTIONS
    assert statistics.median(lines for _, lines in lengths) <= 5


def test_parameters_of_pytorch_s_side_have_types() -> None:
    """The share of annotated parameters whose type has `Any` in it."""
    types = [
        ast.unparse(a.annotation)
        for path in (PACKAGE / "sources" / "pytorch").rglob("*.py")
        for a in ast.walk(tree_of(path))
        if isinstance(a, ast.arg) and a.annotation
    ]
    share = sum(bool(re.search(r"\bAny\b", t)) for t in types) / len(types)
    print(f"{share:.1%} of {len(types)}")
    assert share < 0.45


def test_a_verb_says_of_which_type_its_result_is() -> None:
    """The functions of the verbs, and the methods of what they give; not functions inside of these."""
    trees = [tree_of(file) for file in (PACKAGE / "verbs").glob("*.py")]
    owners = [owner for tree in trees for owner in (tree, *(n for n in tree.body if isinstance(n, ast.ClassDef)))]
    public = [n for owner in owners for n in owner.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    results = [(n.name, "" if n.returns is None else ast.unparse(n.returns)) for n in public]
    assert {("load", "Recording | storage.State"), ("graph_of", "LiveGraph")} <= {*results}
    assert [name for name, result in results if result in ("", "Any", "object")] == []


def test_a_name_that_has_several_meanings_is_no_files() -> None:
    """Cells are a notebook's, a table's, a step's; live is a pass, a graph, a view; attention is an op and a layer."""
    files = Counter(p.stem for p in MODULES.values())
    assert {name: files[name] for name in ("cells", "live", "attention") if files[name] > 1} == {}


def test_no_picture_or_page_lies_about_at_the_top() -> None:
    made = {".svg", ".png", ".pdf", ".html", ".gif", ".apng", ".webp", ".dot", ".mmd", ".json", ".npz"}
    assert [p.name for p in PACKAGE.parent.iterdir() if p.suffix in made] == []
