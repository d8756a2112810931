"""One JupyterLab and one Chromium for all browser tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .lab import CHROMIUM, CHROMIUM_ARGUMENTS, LabPage, jupyterlab, write_notebook

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab shows: copies of the project's notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    for path in NOTEBOOKS.rglob("*.ipynb"):
        copy = folder / path.relative_to(NOTEBOOKS)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
    return folder


@pytest.fixture(scope="session")
def server(root: Path) -> Iterator[tuple[str, str]]:
    with jupyterlab(root) as address_and_token:
        yield address_and_token


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # as Playwright's other waits: the machine may be busy
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_notebook(root: Path, server: tuple[str, str], browser: Any) -> Iterator[Callable[..., LabPage]]:
    """Open a notebook by name, or one made of cells, in a fresh page; no console error may be left at the end."""
    opened: list[LabPage] = []

    def open_it(*cells: str, name: str = "") -> LabPage:
        if not name:
            name = f"test{len(list(root.glob('test*.ipynb')))}.ipynb"
            write_notebook(root / name, *cells)
        lab = LabPage(browser.new_page(viewport={"width": 1500, "height": 1300}), server, name)
        opened.append(lab)
        return lab

    yield open_it
    for lab in opened:
        lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        lab.page.close()
        assert not lab.errors, lab.errors
