"""`autograd-viz lab`: JupyterLab on the notebooks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COPY = "autograd_viz_notebooks"  # the folder made for the notebooks of an installed package


def notebooks_folder(start: Path) -> Path:
    """The notebooks of a checkout; of an installed package a copy in `start`, made once and never overwritten."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent / "notebooks"
    if checkout.is_dir():
        return checkout
    copy = start / COPY
    if not copy.exists():
        shutil.copytree(package / "notebooks", copy)
    return copy


def lab(arguments: Sequence[str]) -> int:
    """Open JupyterLab on the first notebook; `arguments` go to JupyterLab."""
    if importlib.util.find_spec("jupyterlab") is None:
        print('JupyterLab is not installed: pip install "autograd-viz[lab]"', file=sys.stderr)
        return 1
    folder = notebooks_folder(Path.cwd())
    first = min(folder.glob("*.ipynb"))
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first.name}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return subprocess.call([*command, *arguments])
