"""What a release uploads: it is built without a network, it is small, and it holds what it must and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 1.5 * 2**20  # bytes of the wheel
SUFFIXES = {".py", ".js", ".mjs", ".css", ".html", ".txt", ".json", ".bz2", ".typ", ".typed"}
FOR_EDITORS = (".md", ".pyi", ".d.ts", "/biome.json", "/jsconfig.json")
FRONT_END, CHINESE = "autograd_viz/widget/static", "autograd_viz/words/zh"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution: what is missing there is missing here."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_index_will_take_both(built: Path) -> None:
    files = sorted(map(str, built.iterdir()))
    assert [re.sub(r".*-[\d.]+\d", "", f) for f in files] == ["-py3-none-any.whl", ".tar.gz"]
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_the_wheel_is_small_and_holds_the_package_alone(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.stat().st_size <= MOST
    with zipfile.ZipFile(wheel) as packed:
        names = [n for n in map(PurePosixPath, packed.namelist()) if not n.parts[0].endswith(".dist-info")]
    package = {p.relative_to(ROOT).as_posix() for p in (ROOT / "autograd_viz").rglob("*") if p.is_file()}
    package = {p for p in package if "__pycache__" not in p and "node_modules" not in p and not p.endswith(FOR_EDITORS)}
    loose = {p for p in package if not p.startswith((FRONT_END, CHINESE)) or p == f"{CHINESE}/__init__.py"}
    assert {n.as_posix() for n in names} == loose | {f"{FRONT_END}.json.bz2", f"{CHINESE}/texts.json.bz2"}
    assert {n.suffix for n in names} <= SUFFIXES


def test_a_stepper_of_the_wheel_is_that_of_the_clone(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    program = """import autograd_viz as av
from autograd_viz import words
av.set_language("zh")
a = av.tensor(2.0, requires_grad=True)
av.save(av.step(a * a), "x.html")
print(av.__file__, sorted((k, str(v)) for k, v in vars(words._chosen).items() if k.isupper()))"""
    pages, said = [], []
    for name, place in (("wheel", str(wheel)), ("clone", str(ROOT))):
        folder = tmp_path / name
        folder.mkdir()
        if name == "wheel":
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(place := str(tmp_path / "installed"))
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": place},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.startswith(place)
        said.append(run.stdout.partition("__init__.py ")[2])
        pages.append((folder / "x.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1] and "<svg" in pages[0]
    assert said[0] == said[1] and "单步" in said[0]


def test_the_source_distribution_holds_notebooks_docs_and_tests(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        names = {n.partition("/")[2] for n in packed.getnames()}
    wanted = [p for folder in ("notebooks", "docs", "tests") for p in (ROOT / folder).rglob("*.[pim][pyd]*") if p.is_file()]
    assert {p.relative_to(ROOT).as_posix() for p in wanted if "__pycache__" not in p.parts} <= names
