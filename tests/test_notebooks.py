"""The notebooks run, and what is stored in them is what running them gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_stored_outputs_are_what_running_gives() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "store_outputs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_picture_is_stored_as_svg(path: Path) -> None:
    """A reader on GitHub sees every figure and every stepper."""
    for cell in nbformat.read(path, as_version=4).cells:
        last = cell.source.strip().split("\n")[-1] if cell.cell_type == "code" else ""
        if last.startswith(("av.show(", "av.step(")) or last == "stepper":
            assert any("image/svg+xml" in o.get("data", {}) for o in cell.outputs), last


def test_the_pictures_of_the_readme_are_what_is_drawn_now(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "pictures.py", tmp_path], check=True)
    stored = {p.name: p.read_text() for p in (ROOT / "notebooks" / "pictures").glob("*.svg")}
    assert stored == {p.name: p.read_text() for p in tmp_path.glob("*.svg")} and stored
