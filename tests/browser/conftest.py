"""One JupyterLab and one Chromium for all browser tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .lab import CHROMIUM, CHROMIUM_ARGUMENTS, VIEWPORT, LabPage, jupyterlab, write_notebook

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab shows: copies of the project's notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    for path in (*NOTEBOOKS.rglob("*.ipynb"), *NOTEBOOKS.rglob("*.toml")):
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


@pytest.fixture(scope="session")
def desk() -> list[LabPage]:
    """JupyterLab's page that the tests share, if one is open."""
    return []


@pytest.fixture
def open_notebook(root: Path, server: tuple[str, str], browser: Any, desk: list[LabPage]) -> Iterator[Callable[..., LabPage]]:
    """Open a notebook by name, or one made of cells; no console error may be left at the end."""
    opened: list[LabPage] = []

    def open_it(*cells: str, name: str = "") -> LabPage:
        is_free = desk and not opened
        if is_free and cells and desk[0].name.startswith("test") and desk[0].kernel:
            desk[0].fill(*cells)
        else:
            if cells:
                name = f"test{len(list(root.glob('test*.ipynb')))}.ipynb"
                write_notebook(root / name, *cells)
            if is_free:
                desk[0].open(name)
            else:
                desk.insert(0, LabPage(browser.new_page(viewport=VIEWPORT), server, name))
        opened.append(desk[0])
        return desk[0]

    yield open_it
    errors = [error for lab in opened for error in lab.errors]
    if errors or len(opened) > 1:  # what went wrong in a page stays in it
        while desk:
            desk.pop().page.close()
    elif opened:
        opened[0].leave()
    assert not errors, errors
