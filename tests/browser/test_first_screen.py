"""What a person sees first: a notebook opened in JupyterLab on a laptop, with the side bar open, before any cell has run."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import NOTEBOOKS
from .lab import KEPT, LabPage

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1366, "height": 768}
NAMES = [p.relative_to(NOTEBOOKS).as_posix() for p in sorted(NOTEBOOKS.rglob("*.ipynb"))]
# px that the first picture reaches below what is seen; -1 if there is none
BELOW = """async () => {
  const { node } = window.jupyterapp.shell.currentWidget.content;
  const picture = node.querySelector('.jp-OutputArea-output img');
  if (!picture) return -1;
  await picture.decode();
  const seen = node.querySelector('.jp-WindowedPanel-outer') ?? node;
  const below = picture.getBoundingClientRect().bottom - seen.getBoundingClientRect().bottom;
  return Math.max(0, Math.round(below));
}"""


def test_the_first_picture_of_every_notebook_is_whole_on_the_first_screen(server: tuple[str, str], browser: Any) -> None:
    """(Every notebook is opened.)"""
    page = browser.new_page(viewport=LAPTOP)
    lab, below = LabPage(page, server, NAMES[0]), dict[str, int]()
    page.evaluate("window.jupyterapp.shell.expandLeft?.()")
    for name in NAMES:
        lab.kernel = page.evaluate(KEPT, "")
        lab.open(name)
        page.locator(".jp-NotebookPanel:visible .jp-OutputArea-output img").first.wait_for()
        if px := page.evaluate(BELOW):
            below[name] = px
    page.close()
    assert not below
