"""`autograd-viz lab`: JupyterLab on the notebooks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import CannotWriteError
from .says import say

COPY = "autograd_viz_notebooks"  # a copy of the notebooks of an installed package


def notebooks_folder(start: Path) -> Path:
    """The notebooks of a checkout. For an installed package, a copy in `start`, made once and never overwritten."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent / "notebooks"
    if checkout.is_dir():
        return checkout
    copy = start / COPY
    if not copy.exists():
        _copy(package / "notebooks", copy)
    return copy


def _copy(source: Path, target: Path) -> None:
    """Copy a folder completely or not at all. The copies of read-only files are writeable."""
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as beside:
            for file in (f for f in source.rglob("*") if f.is_file()):
                place = Path(beside) / COPY / file.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
            (Path(beside) / COPY).rename(target)
    except OSError as error:
        raise CannotWriteError(f"cannot copy the notebooks to {target}: {error.strerror or error}") from error


def lab(arguments: Sequence[str]) -> int:
    """Open JupyterLab on the first notebook. JupyterLab gets `arguments`."""
    if importlib.util.find_spec("jupyterlab") is None:
        say("JupyterLab is not installed: pip install jupyterlab", sys.stderr)
        return 1
    folder = notebooks_folder(Path.cwd())
    say(f"notebooks: {folder}")
    first = min(folder.glob("*.ipynb"))
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}"]
    command.append(f"--LabApp.default_url=/lab/tree/{first.name}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return _waited_for(subprocess.Popen([*command, *arguments]))


def _waited_for(process: subprocess.Popen[bytes]) -> int:
    """The exit code of the process. Ctrl-C does not kill it, because JupyterLab gets it too and asks for confirmation."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
