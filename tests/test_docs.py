"""The pages of docs: their code runs, their pictures are current, their links and file names are right, and the site builds."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image, ImageChops

import autograd_viz as av
from autograd_viz.cli.gallery import PICTURES, PROGRAMS, gallery

from .blocks import blocks, run_python, run_shell

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GALLERY = DOCS / "gallery.md"  # its programs are run when its pictures are drawn
WITH_CODE = [p for p in PAGES if p != GALLERY and any(b.language == "python" for b in blocks(p))]
NEEDS_TORCH = [p for p in WITH_CODE if any(b.text.startswith("import torch\n") for b in blocks(p))]
VERBS = DOCS / "look_up" / "verbs.md"
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
    for file, (name, drawn) in PICTURES.items():
        program = (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
        call = "av.explain(x, show=True)" if "explain" in drawn else drawn.replace("$path", f'"{file}"')
        assert f"](pictures/{file})" in text, file
        shown = next(b.text for b in blocks(GALLERY) if call in b.text)
        assert shown.startswith(program.split("\n\n", 1)[1]), name


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
        assert 'class="run-here"' not in page.read_text(encoding="utf-8"), "there is no playground beside these pages"
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text(encoding="utf-8"))
        assert not loaded, (page.name, loaded)
    verbs = (tmp_path / "site" / "look_up" / "api" / "verbs.html").read_text(encoding="utf-8")
    assert 'id="autograd_viz.explain"' in verbs
    first = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    (frame,) = re.findall(r'<iframe class="live" src="([^"]+)"', first)
    assert "AccumulateGrad" in (tmp_path / "site" / frame).read_text(encoding="utf-8")
    assert av.__version__ in first and "stepping.gif" not in first and (tmp_path / "site" / "changelog.html").exists()
    assert (tmp_path / "site" / "_images" / "map_dark.svg").read_text(encoding="utf-8").count("#ffffff") == 0


@pytest.fixture(scope="module")
def live() -> Any:
    pytest.importorskip("sphinx", reason="Sphinx is not installed (the extra docs)")
    spec = importlib.util.spec_from_file_location("live", DOCS / "_ext" / "live.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def linked(live: Any, page: str) -> list[str]:
    return live.linked(page, [b.text for b in blocks(DOCS / f"{page}.md") if b.language == "python"])  # type: ignore[no-any-return]


RUN_ALL = """
import json, sys
from autograd_viz.cli import tab
tab.start()
for program in json.load(sys.stdin):
    result = json.loads(tab.run(program, lambda text: None))
    assert result["error"] is None and (result["shown"] or result["said"]), (program, result["error"])
"""


def test_what_a_link_opens_runs_as_the_playground_runs_it(live: Any, tmp_path: Path) -> None:
    last = [[p for p in linked(live, page) if p][-1] for page in live.RUNS_THERE]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RUN_ALL]
    done = subprocess.run(
        command, input=json.dumps(last), capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert linked(live, "learn/pytorch") == [""] * len(linked(live, "learn/pytorch")), "a browser has no PyTorch"
    assert not any(".gif" in p for p in linked(live, "gallery"))


def test_links_hold_the_program_where_there_is_a_playground_and_badges_the_repository(live: Any, tmp_path: Path) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    def added(page: str, thing: nodes.Element, **config: str) -> str:
        settings = SimpleNamespace(**{"playground": "", "repository": "", **config})
        app = SimpleNamespace(builder=SimpleNamespace(format="html"), config=settings, srcdir=DOCS, outdir=tmp_path)
        document = new_document(page)
        document += thing
        live.resolved(app, document, page)
        return "".join(raw.astext() for raw in document.findall(nodes.raw))

    program = "import autograd_viz as av\n\nprint(av.tensor(2.0))\n"
    example = nodes.literal_block(program, program, language="python")
    assert added("do/step", example.deepcopy()) == added("do/train", example.deepcopy(), playground="../index.html") == ""
    place, code = re.findall(r'href="([^"]+)#code=([\w-]+)"', added("do/step", example, playground="../index.html"))[0]
    assert place == "../../index.html"
    assert zlib.decompress(base64.urlsafe_b64decode(code + "==="), -zlib.MAX_WBITS).decode() == program

    row = nodes.row("", nodes.entry("", nodes.paragraph("", "12 · Your own PyTorch model")))
    assert added("learn/notebooks", row.deepcopy()) == ""
    badges = added("learn/notebooks", row, repository="https://github.com/somebody/something")
    notebook = "12_your_own_pytorch_model.ipynb"
    assert f"/github/somebody/something/blob/HEAD/notebooks/{notebook}" in badges
    assert f"/gh/somebody/something/HEAD?labpath=notebooks%2F{notebook}" in badges
