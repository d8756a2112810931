"""Builds the site's folder.

# Note [What the site may do]
Its policy allows scripts and styles of the site's own files, and those in our pages by their hashes. It allows requests to the
site alone, no eval, no inline handler. The worker that runs programs is made from a `blob:` address, so the policy holds in it
too. Our pages stand in frames without an origin.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
import zipfile
from html import escape
from pathlib import Path
from typing import Any

from .. import words
from ..widget.html import PLACE, allowed_around, hash_of
from .libraries import from_npm, pyodide_packages, ran
from .lite import build_notebooks

HERE = Path(__file__).parent
PACKAGE = HERE.parent
EXAMPLES = ("chain", "product", "retained", "unbind", "diamond", "xor", "mlp", "attention")
LEFT_OUT = {"notebooks", "site", "__pycache__"}  # rooms that a page does not need
READ = "autograd_viz/twin/core/ops"  # rules are read as source, too
CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "python_stdlib.zip")
STATIC = ("playground.js", "editor.js", "runner.js", "worker.js", "link.js", "embed.js", "playground.css")
NOT_EDITOR = {"", "pyodide", "ws"}


def build(out: Path, pyodide: str | None = None, notebooks: Path | None = None, docs: Path | None = None) -> Path:
    """Write the site into a folder, whose files it replaces, and return its first page.

    `pyodide`: a folder or an address with the packages of Pyodide; None is Pyodide's own. `notebooks`: their folder, for
    JupyterLite; None leaves them out. `docs`: the folder of Sphinx's sources, likewise.
    """
    modules = from_npm()
    python = out / "pyodide"
    python.mkdir(parents=True, exist_ok=True)
    lock = pyodide_packages(modules, pyodide, python)
    (python / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    for name in CORE:
        shutil.copyfile(modules / "pyodide" / name, python / name)
    wasm = (modules / "pyodide" / "pyodide.asm.wasm").read_bytes()
    (python / "pyodide.asm.wasm.gz").write_bytes(gzip.compress(wasm, 9, mtime=0))
    _write_package(out / "autograd_viz.zip", modules)
    for name in STATIC:
        shutil.copyfile(HERE / "static" / name, out / name)
    parts = {}
    if notebooks is not None:
        (python / "pyodide.asm.wasm").write_bytes(wasm)
        first = min(notebooks.glob("*.ipynb")).name
        parts["notebooks"] = f"{build_notebooks(out, notebooks).relative_to(out).as_posix()}?path={{folder}}{first}"
    if docs is not None:
        with tempfile.TemporaryDirectory() as trees:
            options = ["-q", "-d", trees, "-D", "playground=../index.html"]  # where it stands, seen from the docs' first page
            ran([sys.executable, "-m", "sphinx", *options, str(docs), str(out / "docs")], docs)
        parts["documentation"] = "docs/index.html"
    (out / "index.html").write_text(_page(out, _editor(out, modules), parts), encoding="utf-8")
    return out / "index.html"


def _editor(out: Path, modules: Path) -> dict[str, str]:
    """Copy the editor's modules, each with its licence, and return where each stands."""
    places = {}
    locked = json.loads((HERE / "npm" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name in sorted({key.removeprefix("node_modules/") for key in locked} - NOT_EDITOR):
        described = json.loads((modules / name / "package.json").read_text(encoding="utf-8"))
        file = described["exports"]["import"].removeprefix("./")
        folder = out / "editor" / name.replace("/", "_").lstrip("@")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(modules / name / file, folder / "index.js")
        shutil.copyfile(modules / name / "LICENSE", folder / "LICENSE")
        places[name] = f"./editor/{folder.name}/index.js"
    return places


def _write_package(target: Path, modules: Path) -> None:
    """Our package as a page needs it, compiled by the page's own Python."""
    with tempfile.TemporaryDirectory() as beside:
        folder = Path(beside) / "package"
        shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=_left_out)
        shutil.copyfile(HERE / "static" / "compile.mjs", Path(beside) / "compile.mjs")
        (Path(beside) / "node_modules").symlink_to(modules)
        ran(["node", "compile.mjs", str(folder), "/lib/python3.12/site-packages", READ], Path(beside))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for file in sorted(f for f in folder.rglob("*") if f.is_file()):
                packed.write(file, file.relative_to(folder))


def _left_out(folder: str, names: list[str]) -> set[str]:
    here = Path(folder)
    room = {"pytorch"} if here.name == "sources" else set()
    return {n for n in names if n in room or n == "__pycache__" or (n in LEFT_OUT and here == PACKAGE)}


def _policy(imports: str) -> str:
    scripts, styles = (" ".join(hashes) for hashes in allowed_around())
    return (
        f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {hash_of(imports)} {scripts}; style-src 'self' {styles}; "
        "img-src data:; connect-src 'self'; worker-src blob:; frame-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _page(out: Path, editor: dict[str, str], parts: dict[str, str]) -> str:
    imports = json.dumps({"imports": editor})
    fetched = [*sorted(out.glob("*.zip")), *sorted((out / "pyodide").iterdir())]
    data: dict[str, Any] = {
        "words": {name: words.site(name) for name in ("en", "zh")},
        "examples": {name: (HERE / "examples" / f"{name}.txt").read_text(encoding="utf-8") for name in EXAMPLES},
        "parts": parts,
        "sizes": {f.relative_to(out).as_posix(): f.stat().st_size for f in fetched},
    }
    places = {
        "policy": escape(_policy(imports), quote=True),
        "imports": imports,
        "data": json.dumps(data).replace("<", "\\u003c"),
        "title": escape(words.site("en")["page_title"]),
    }
    return PLACE.sub(lambda place: places[place[1]], (HERE / "static" / "index.html").read_text(encoding="utf-8"))
