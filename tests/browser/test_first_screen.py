"""What a person sees first: a notebook opened in JupyterLab on a laptop, with the side bar open, as stored and live."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import NOTEBOOKS
from .lab import KEPT, LabPage

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1366, "height": 768}
NAMES = [p.relative_to(NOTEBOOKS).as_posix() for p in sorted(NOTEBOOKS.rglob("*.ipynb"))]
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
# run the cells up to the first that has a picture, and go back to the top
RUN = """async (pictures) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  const first = content.widgets.findIndex(c => c.node.querySelector(pictures));
  for (content.activeCellIndex = 0; content.activeCellIndex <= first; content.activeCellIndex++)
    await window.jupyterapp.commands.execute('notebook:run-cell');
  content.activeCellIndex = 0;
}"""


def test_the_first_picture_of_every_notebook_is_whole_on_the_first_screen(server: tuple[str, str], browser: Any) -> None:
    """(Every notebook is opened, and its first cells run.)"""
    page = browser.new_page(viewport=LAPTOP)
    lab, below = LabPage(page, server, NAMES[0]), dict[str, tuple[int, int]]()
    page.evaluate("window.jupyterapp.shell.expandLeft?.()")
    for name in NAMES:
        lab.kernel = page.evaluate(KEPT, "")
        lab.open(name)
        page.locator(".jp-NotebookPanel:visible .jp-OutputArea-output img").first.wait_for()
        stored = page.evaluate(BELOW, STORED)
        if "/" in name:  # the same program in Chinese
            below |= {name: (stored, 0)} if stored else {}
            continue
        page.evaluate(RUN, STORED)
        page.locator(f".jp-NotebookPanel:visible :is({LIVE})").first.wait_for()
        for _ in range(30):  # it chooses its detail
            if not (live := page.evaluate(BELOW, LIVE)):
                break
            page.wait_for_timeout(100)
        if stored or live:
            below[name] = (stored, live)
    page.close()
    assert not below
