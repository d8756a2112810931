"""The notebooks in JupyterLite: a JupyterLab whose Python runs in the page, from files of the site alone.

# Note [One lock file]
The kernel loads what Pyodide's lock file names, so our package and all that it needs stand there beside NumPy. The kernel then
installs nothing, and asks no index. The playground reads the same file, and loads only NumPy.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from .. import words
from .libraries import from_pypi, ran

HERE = Path(__file__).parent
BUILDERS = ("jupyterlite_core", "doit", "jupyter_core", "platformdirs", "traitlets")  # run here, to build
EXTENSIONS = ("jupyterlite_pyodide_kernel", "jupyterlab_widgets", "anywidget")  # have a part in JupyterLab
NOT_LOADED = {*BUILDERS, *EXTENSIONS} - {"traitlets", "anywidget"}
KERNEL = "@jupyterlite/pyodide-kernel-extension"
TORCH = re.compile(r"^(?:import|from) torch\b", re.MULTILINE)  # without a `try`: the notebook needs it
USES_SCIPY = ("09", "11", "13", "14")  # notebooks whose ops need it: a cell cannot fetch it while it runs
OURS = "autograd_viz.zip"


def build_notebooks(out: Path, notebooks: Path) -> Path:
    """Write JupyterLite into the site's folder `lite`, and return its first page. The playground stands in `out` already."""
    wheels = {file.name.partition("-")[0]: file for file in sorted(from_pypi().glob("*.whl"))}
    shutil.rmtree(out / "lite", ignore_errors=True)
    with tempfile.TemporaryDirectory() as beside:
        tools, source = Path(beside) / "tools", Path(beside) / "source"
        for name in BUILDERS:
            zipfile.ZipFile(wheels[name]).extractall(tools)
        source.mkdir()
        extensions = [f"--LiteBuildConfig.federated_extensions={wheels[name]}" for name in EXTENSIONS]
        command = [sys.executable, "-m", "jupyterlite_core", "build", "--ignore-sys-prefix", "--no-sourcemaps"]
        command += ["--no-unused-shared-packages", "--no-libarchive", "--apps=lab", f"--output-dir={out / 'lite'}", *extensions]
        ran(command, source, {**os.environ, "PYTHONPATH": str(tools)})
    _settings(out / "lite" / "jupyter-lite.json", _lock(out, wheels))
    _contents(out / "lite", notebooks)
    return out / "lite" / "lab" / "index.html"


def _lock(out: Path, wheels: dict[str, Path]) -> list[str]:
    """Add the wheels to Pyodide's lock file; the names of those that a kernel loads. See Note [One lock file]."""
    python, kernels = out / "pyodide", out / "lite" / "extensions" / KERNEL / "static" / "pypi"
    lock = json.loads((python / "pyodide-lock.json").read_text(encoding="utf-8"))
    files = [file for name, file in wheels.items() if name not in NOT_LOADED]
    files += [file for file in kernels.glob("*.whl") if not file.name.startswith(("piplite", "widgetsnbextension-3"))]
    loaded = []
    for file in files:
        shutil.copyfile(file, python / file.name)
        entry = _entry(file)
        lock["packages"][entry["name"]] = entry
        loaded.append(entry["name"])
    for name in ("piplite", "micropip"):  # the kernel loads both before it starts
        with zipfile.ZipFile(python / f"{name}.zip", "w") as packed:
            for file in sorted((HERE / "piplite").glob("*.py")):
                packed.write(file, f"piplite/{file.name}")
        lock["packages"][name] = _entry(python / f"{name}.zip")
        loaded.append(name)
    ours = _entry(out / OURS)
    lock["packages"]["autograd-viz"] = {**ours, "name": "autograd-viz", "file_name": f"../{OURS}", "imports": ["autograd_viz"]}
    (python / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    return ["numpy", *loaded, "autograd-viz"]


def _entry(file: Path) -> dict[str, Any]:
    name, version = [*file.stem.split("-"), ""][:2]
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    place = {"install_dir": "site", "package_type": "package", "unvendored_tests": False, "depends": [], "imports": []}
    return {"name": name.lower().replace("_", "-"), "version": version, "file_name": file.name, "sha256": sha256, **place}


def _settings(file: Path, packages: list[str]) -> None:
    settings = json.loads(file.read_text(encoding="utf-8"))
    data = settings["jupyter-config-data"]
    data.update(appName="autograd_viz", contentsAllJsonFile="all.json")
    data.setdefault("litePluginSettings", {})[f"{KERNEL}:kernel"] = {
        "pyodideUrl": "./../pyodide/pyodide.mjs",
        "disablePyPIFallback": True,
        "pipliteUrls": [],
        "loadPyodideOptions": {"packages": packages},
    }
    file.write_text(json.dumps(settings, indent=1), encoding="utf-8")


def _contents(lite: Path, notebooks: Path) -> None:
    """Write the notebooks, their questions, and the lists of them that JupyterLite reads."""
    files = sorted([*notebooks.rglob("*.ipynb"), *notebooks.rglob("*.toml")])
    for folder in (notebooks, *sorted({file.parent for file in files} - {notebooks})):
        place = folder.relative_to(notebooks)
        here = []
        for file in (f for f in files if f.parent == folder):
            target = lite / "files" / place / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            is_notebook = file.suffix == ".ipynb"
            target.write_text(json.dumps(_prepared(file)) if is_notebook else file.read_text("utf-8"), encoding="utf-8")
            here.append(_model(place / file.name, "notebook" if is_notebook else "file", target.stat().st_size))
        here += [
            _model(f.relative_to(notebooks), "directory", 0) for f in sorted({f.parent for f in files}) if f.parent == folder
        ]
        index = lite / "api" / "contents" / place / "all.json"
        index.parent.mkdir(parents=True, exist_ok=True)
        index.write_text(json.dumps({**_model(place, "directory", 0), "content": here}), encoding="utf-8")


def _model(path: Path, kind: str, size: int) -> dict[str, Any]:
    time = "2000-01-01T00:00:00Z"
    name = "" if path == Path() else path.as_posix()
    form = {"notebook": "json", "file": "text"}.get(kind)
    dates = {"created": time, "last_modified": time, "writable": True, "content": None, "mimetype": None}
    return {"name": path.name, "path": name, "type": kind, "format": form, "size": size, **dates}


def _prepared(file: Path) -> dict[str, Any]:
    """A notebook with its first picture as its only output. It says at its top that it needs PyTorch, or has SciPy fetched."""
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    texts = words.site("zh" if file.parent.name == "zh" else "en")
    first: list[dict[str, Any]] = []
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if any(TORCH.search("".join(cell["source"])) for cell in codes):
        first.append({"cell_type": "markdown", "id": "needs-torch", "metadata": {}, "source": texts["needs_torch"]})
    if file.name[:2] in USES_SCIPY:
        load: dict[str, Any] = {"cell_type": "code", "id": "fetches-scipy", "metadata": {}, "outputs": []}
        first.append({**load, "execution_count": None, "source": f"import scipy  # {texts['fetches_scipy']}"})
    pictured: Any = next((cell for cell in codes if "<img" in str(cell["outputs"])), None)
    for cell in codes:
        cell.update(outputs=cell["outputs"] if cell is pictured else [], execution_count=None)
    notebook["cells"] = first + notebook["cells"]
    notebook["metadata"]["kernelspec"] = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    return notebook
