"""What a person sees first: a notebook opened in JupyterLab on a laptop, with the side bar open, as stored and live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from .. import effort
from .conftest import NOTEBOOKS
from .lab import KEPT, LabPage

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1366, "height": 768}
# what the first live picture is: a figure, a stepper, a run, maps; each stands where its stored one does
RUN_HERE = ("01", "05", "09", "13", "14", "15")
NAMES = [p.relative_to(NOTEBOOKS).as_posix() for p in sorted(NOTEBOOKS.rglob("*.ipynb"))]
CHINESE = ("zh/02", "zh/05")  # the least room of those, which have the English ones' pictures under shorter texts
# px that the first picture reaches below what is seen, by its lowest letters if it has any; -1 if there is none
BELOW = """async (pictures) => {
  const { node } = window.jupyterapp.shell.currentWidget.content;
  const picture = [...node.querySelectorAll(pictures)].find(p => p.getClientRects().length);
  if (!picture) return -1;
  await picture.decode?.();
  const seen = node.querySelector('.jp-WindowedPanel-outer') ?? node;
  seen.scrollTop = 0;
  const letters = [...picture.querySelectorAll('text')].filter(t => t.getClientRects().length);
  const ends = (letters.length ? letters : [picture]).map(t => t.getBoundingClientRect().bottom);
  return Math.max(0, Math.round(Math.max(...ends) - seen.getBoundingClientRect().bottom));
}"""
STORED = ".jp-OutputArea-output img"
LIVE = ".av-sheet > svg.av-picture, .av-run-canvas, .av-diff-picture > svg"
# run the cells, of which the last has a picture, and go back to the top
RUN = """async () => {
  const { content } = window.jupyterapp.shell.currentWidget;
  await window.jupyterapp.commands.execute('notebook:run-all-cells');
  content.activeCellIndex = 0;
}"""


def beginning(notebook: Path) -> nbformat.NotebookNode:
    """A notebook up to its first picture: the rest, with all its pages, takes seconds to load, and moves nothing above it."""
    whole = nbformat.read(notebook, as_version=4)
    first = next(i for i, cell in enumerate(whole.cells) if "image/svg+xml" in str(cell.get("outputs")))
    whole.cells = whole.cells[: first + 1]
    return whole


def test_the_first_picture_of_every_notebook_is_whole_on_the_first_screen(
    root: Path, server: tuple[str, str], browser: Any
) -> None:
    """(All English notebooks are opened, and the first cells of some run; with --thorough all are, and those of all.)"""
    opened = [name for name in NAMES if effort.THOROUGH or not name.startswith("zh/") or name.startswith(CHINESE)]
    names = [name.replace("/", "_") for name in opened]
    for name, first in zip(opened, names, strict=True):
        nbformat.write(beginning(NOTEBOOKS / name), root / f"first_{first}")
    page = browser.new_page(viewport=LAPTOP)
    lab, below = LabPage(page, server, f"first_{names[0]}"), dict[str, tuple[int, int]]()
    page.evaluate("window.jupyterapp.shell.expandLeft?.()")
    for name in names:
        lab.kernel = page.evaluate(KEPT, "")
        lab.open(f"first_{name}")
        page.locator(".jp-NotebookPanel:visible .jp-OutputArea-output img").first.wait_for()
        stored = page.evaluate(BELOW, STORED)
        if not (effort.THOROUGH or name.startswith(RUN_HERE)):
            below |= {name: (stored, 0)} if stored else {}
            continue
        page.evaluate(RUN)
        page.locator(f".jp-NotebookPanel:visible :is({LIVE})").first.wait_for()
        for _ in range(30):  # it chooses its detail
            if not (live := page.evaluate(BELOW, LIVE)):
                break
            page.wait_for_timeout(100)
        if stored or live:
            below[name] = (stored, live)
    page.close()
    assert not below
