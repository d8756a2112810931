"""The pages of docs: their code runs, their pictures are current, their links and file names are right, and the site builds."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops

import autograd_viz as av
from autograd_viz.cli.gallery import PICTURES, PROGRAMS, gallery

from .blocks import blocks, run_python, run_shell

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
WITH_CODE = [p for p in PAGES if any(b.language == "python" for b in blocks(p))]
NEEDS_TORCH = [p for p in WITH_CODE if any(b.text.startswith("import torch\n") for b in blocks(p))]
VERBS = DOCS / "look_up" / "verbs.md"
GALLERY = DOCS / "gallery.md"
TERMINAL = DOCS / "do" / "terminal.md"
LARGEST = 300_000  # bytes of the picture that everybody downloads who looks at the README
NOTICEABLE = 40  # of 255: less is another version of the library that draws
FEW = 0.001  # of all pixels


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize(
    "page", [pytest.param(p, id=name_of(p), marks=[pytest.mark.torch] * (p in NEEDS_TORCH)) for p in WITH_CODE]
)
def test_code_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(page)


def test_the_commands_of_the_terminal_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(TERMINAL)
    environment = {
        **os.environ,
        "BROWSER": "true",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    rendered, explained, page, stepped, pictures, last, last_page = run_shell(TERMINAL, environment)
    assert rendered == "again.svg\n" and Path("again.svg").exists()
    assert explained.startswith("w.grad is all zero: ")
    assert Path(page.strip()).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "SigmoidBackward0" in stepped and len(pictures.splitlines()) == 11
    assert "ReluBackward0" in last and Path(last_page.strip()).exists()


def test_nothing_tells_to_install_a_package_that_no_index_has() -> None:
    """From a clone it is `pip install -e .`; what is missing is installed by its own name."""
    places = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES, *(ROOT / "notebooks").rglob("*.ipynb")]
    places += (ROOT / "autograd_viz").rglob("*.py")
    named = re.compile(r"pip install[^\n`;&]*autograd[-_]viz")
    assert [p for p in places if named.search(p.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_and_modules_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z_]+/[\w/.]*)`", text):
        assert (ROOT / name).exists() or (ROOT / "autograd_viz" / name).exists(), name
    for module in re.findall(r"`python -m (benchmarks[.\w]+)", text):
        assert (ROOT / (module.replace(".", "/") + ".py")).exists(), module


def test_every_verb_has_a_line_and_an_example() -> None:
    """The verbs are those of the docstring of the package."""
    verbs = set(re.findall(r"^    (\w+)\(", av.__doc__ or "", re.MULTILINE)) | {"load", "to_graphviz"}
    text = VERBS.read_text(encoding="utf-8")
    described = dict(re.findall(r"^## (\w+)\n\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL))
    assert set(described) == verbs
    for verb, said in described.items():
        assert re.match(r"[A-Z][^\n]+\.\n", said), verb
        assert re.search(rf"^```python\n(?:.+\n)*?.*av\.{verb}\(", said, re.MULTILINE), verb


def test_the_gallery_shows_every_picture_with_its_program() -> None:
    text = GALLERY.read_text(encoding="utf-8")
    for picture in PICTURES:
        program = (PROGRAMS / f"{picture.program}.py").read_text(encoding="utf-8")
        call = "av.explain(x, show=True)" if "explain" in picture.call else picture.call.replace("$path", f'"{picture.file}"')
        assert f"](pictures/{picture.file})" in text, picture.file
        shown = next(b.text for b in blocks(GALLERY) if call in b.text)
        assert shown.startswith(program.split("\n\n", 1)[1]), picture.program


def test_what_is_quoted_stands_in_the_source() -> None:
    op, rules = [b.text for b in blocks(DOCS / "understand" / "rules.md") if b.language == "text"]
    ops = ROOT / "autograd_viz" / "twin" / "core" / "ops"
    assert op in (ops / "elementwise" / "arithmetic.py").read_text(encoding="utf-8")
    assert rules in (ops / "first.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    gallery(folder)
    return folder


def test_stored_pictures_are_what_is_drawn_now(drawn: Path) -> None:
    """If not: autograd-viz gallery docs/pictures"""
    house = {"house.svg"}  # test_architecture.py
    assert {p.name for p in (DOCS / "pictures").iterdir()} - house == {p.name for p in drawn.iterdir()}
    for path in drawn.glob("*.svg"):
        assert (DOCS / "pictures" / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), path.name


def frames(path: Path) -> Iterator[tuple[int, Image.Image]]:
    """Each frame's time in ms, and the frame."""
    with Image.open(path) as film:
        for i in range(film.n_frames):
            film.seek(i)
            yield film.info["duration"], film.convert("RGB")


def test_the_stored_animation_is_what_is_drawn_now_and_small(drawn: Path) -> None:
    stored = DOCS / "pictures" / "stepping.gif"
    assert stored.stat().st_size < LARGEST
    for (time, old), (now, new) in zip(frames(stored), frames(drawn / "stepping.gif"), strict=True):
        assert (time, old.size) == (now, new.size)
        counts = ImageChops.difference(old, new).convert("L").histogram()
        assert sum(counts[NOTICEABLE:]) <= FEW * sum(counts)


def test_every_stored_picture_is_shown() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in (*PAGES, ROOT / "README.md"))
    for picture in (DOCS / "pictures").iterdir():
        assert f"pictures/{picture.name}" in text, picture.name


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not installed (the extra docs)")
def test_the_site_builds_without_a_warning_and_asks_the_network_for_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text(encoding="utf-8"))
        assert not loaded, (page.name, loaded)
    verbs = (tmp_path / "site" / "look_up" / "api" / "verbs.html").read_text(encoding="utf-8")
    assert 'id="autograd_viz.explain"' in verbs
