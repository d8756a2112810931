"""The stepper outside JupyterLab, and after its kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from .lab import LabPage, marimo, write_notebook

pytestmark = pytest.mark.browser

DARK = "rgb(15, 20, 25)"  # the canvas of the dark palette
CELLS = ("import autograd_viz as av\na = av.tensor(2.0, requires_grad=True)\ne = a * a", "s = av.step(e)\ns")
MARIMO = """# /// script
# [tool.marimo.display]
# theme = "dark"
# ///
import marimo
app = marimo.App()

@app.cell
def _():
    import autograd_viz as av
    a = av.tensor(2.0, requires_grad=True)
    e = a * a
    s = av.step(e)
    s
    return a, av, e, s

@app.cell
def _(av, e):
    av.map(e)

@app.cell
def _(av):
    av.watch(av.nn.Linear(2, 1))

@app.cell
def _(av, e):
    av.diff(e, e * 2)

if __name__ == "__main__":
    app.run()
"""


def press_next_and_read(page: Any, grad: str) -> None:
    """Two presses of next; the leaf's row says what backward() would have left there."""
    widget = page.locator(".av-root").first
    widget.wait_for()
    for step in (1, 2):
        widget.locator(".av-next").click()
        widget.locator(".av-counter", has_text=f"{step} / 2").wait_for()
    assert grad in str(widget.locator('[data-at="t0.grad"]').first.text_content())  # in full or in brief


def test_it_steps_by_mouse_and_by_keys_in_notebook_7(browser: Any, server: tuple[str, str], root: Path) -> None:
    write_notebook(root / "seven.ipynb", *CELLS)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    try:
        lab = LabPage(page, server, "seven.ipynb", "notebook")
        assert page.locator("body").get_attribute("data-notebook") == "notebooks"
        lab.run_all()
        press_next_and_read(page, "4.")
        assert lab.run_code("print(a.grad)") == "tensor(4.)"
        counter = page.locator(".av-counter").first  # the toolbar has the focus since the last click
        for key, at in (("ArrowLeft", 1), ("ArrowRight", 2), ("b", 1), ("ArrowLeft", 0), ("f", 2)):
            page.keyboard.press(key)
            expect(counter).to_have_text(f"{at} / 2")
    finally:
        page.close()


def test_it_steps_in_marimo_and_is_dark_there_too(browser: Any, tmp_path: Path) -> None:
    program = tmp_path / "app.py"
    program.write_text(MARIMO)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    try:
        with marimo(program) as address:
            page.goto(address)
            press_next_and_read(page, "4.")
            outline = page.locator('.av-root [data-at="n0"] .outline').first
            assert outline.evaluate("e => getComputedStyle(e).outlineStyle") == "none"  # marimo has a class of that name
            expect(page.locator(".av-root").first).to_have_css("background-color", DARK)
            for live in (".av-root:has-text('1 parameters')", ".av-run", ".av-diff"):
                page.locator(live).first.wait_for()
        assert not errors
    finally:
        page.close()


def test_a_restarted_kernel_leaves_the_recorded_steps(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(*CELLS, "s.finish()")
    lab.run_all()
    widget = lab.page.locator(".av-root").first
    widget.locator(".av-counter", has_text="2 / 2").wait_for()
    lab.page.evaluate("async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }")
    widget.locator(".av-back").click()
    widget.locator(".av-counter", has_text="1 / 2").wait_for()
    assert "MulBackward0" in str(widget.locator(".av-sentence").text_content())
    lab.page.wait_for_timeout(1500)
    lab.errors.clear()  # JupyterLab complains about what it had asked the old kernel
