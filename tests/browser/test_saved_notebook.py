"""What a notebook keeps of a stepper: a page that goes on stepping, and a picture where pages are not let in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .lab import LabPage, write_notebook

pytestmark = pytest.mark.browser

PROGRAM = "import autograd_viz as av\na = av.tensor(2.0, requires_grad=True)\ne = a * a"
STEPPER = "s = av.step(e)\ns"
COMPARE = "av.compare(av.step(e), av.step(a * 3), titles=('square', 'triple'))"
HOOKED = "e.register_hook(lambda g: print('the hook ran'))\ns = av.step(e)\ns"
OUTPUTS = """() => [...document.querySelectorAll('.jp-OutputArea-child')].filter(e => e.offsetHeight > 2).map(
  e => e.querySelector('iframe') ? 'page' : e.querySelector('.av-root') ? 'live' : e.querySelector('img') ? 'picture'
    : e.textContent.trim())"""


def saved(lab: LabPage) -> None:
    """Save the notebook, and let its kernel go."""
    lab.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.page.wait_for_timeout(500)
    lab.errors.clear()  # JupyterLab complains about the missing kernel


@pytest.fixture
def reopened(browser: Any, server: tuple[str, str]) -> Iterator[Callable[[str], Any]]:
    """Open a notebook by name in a page of its own."""
    pages = []

    def open_it(name: str) -> Any:
        page = browser.new_page(viewport={"width": 1200, "height": 2000})
        pages.append(page)
        LabPage(page, server, name)
        return page

    yield open_it
    for page in pages:
        page.close()


def step_pages(page: Any, *grads: str) -> None:
    """Every page goes to its end, and says there what `a` got."""
    for i, grad in enumerate(grads):
        frame = page.frame_locator("iframe >> visible=true").nth(i)
        for step in (1, 2):
            frame.locator(".av-next").click()
            assert frame.locator(".av-counter").text_content() == f"{step} / 2"
        assert grad in str(frame.locator('[data-at="t0.grad"]').first.text_content())


@pytest.mark.parametrize(("cell", "pages"), [(STEPPER, 1), (COMPARE, 2)])
def test_it_steps_in_a_notebook_opened_again(
    root: Path, open_notebook: Callable[..., LabPage], reopened: Callable[[str], Any], cell: str, pages: int
) -> None:
    name = f"again{pages}.ipynb"
    write_notebook(root / name, PROGRAM, cell)
    lab = open_notebook(name=name)
    lab.run_all()
    lab.page.locator(".av-root").nth(pages - 1).wait_for()
    assert lab.page.locator("iframe").count() == lab.page.locator(".jp-OutputArea-output img").count() == pages
    assert lab.page.evaluate(OUTPUTS) == ["live"]
    assert lab.run_code("print(a.grad)") == "None"
    saved(lab)
    assert (root / name).stat().st_size < 300_000 * pages
    page = reopened(name)
    page.locator("iframe").nth(pages - 1).wait_for()
    page.wait_for_timeout(1500)  # a live view would have had its chance
    assert page.evaluate(OUTPUTS) == ["page"] * pages
    step_pages(page, *("tensor(4.)", "tensor(3.)")[:pages])

    plain = json.loads((root / name).read_text())
    plain["metadata"]["changed"] = "by somebody else"  # so JupyterLab does not trust it
    (root / f"not_{name}").write_text(json.dumps(plain))
    page = reopened(f"not_{name}")
    page.locator(".jp-OutputArea-output img").nth(pages - 1).wait_for()
    assert [o for o in page.evaluate(OUTPUTS) if o in ("picture", "page")] == ["picture"] * pages
    sizes = page.locator(".jp-OutputArea-output img").evaluate_all("(all) => all.map((i) => i.naturalWidth)")
    assert len(sizes) == pages and all(size > 100 for size in sizes)


def test_code_of_the_users_runs_when_they_step_and_then_the_page_is_there(
    root: Path, open_notebook: Callable[..., LabPage], reopened: Callable[[str], Any]
) -> None:
    write_notebook(root / "hooked.ipynb", PROGRAM, HOOKED)
    lab = open_notebook(name="hooked.ipynb")
    lab.run_all()
    widget = lab.page.locator(".av-root").first
    widget.wait_for()
    assert lab.page.locator("iframe").count() == 0 and "the hook ran" not in str(lab.page.evaluate(OUTPUTS))
    for step in (1, 2):
        widget.locator(".av-next").click()
        widget.locator(".av-counter", has_text=f"{step} / 2").wait_for()
    lab.page.locator("iframe").wait_for(state="attached")
    assert "page" not in lab.page.evaluate(OUTPUTS)
    saved(lab)
    page = reopened("hooked.ipynb")
    page.locator("iframe").wait_for()
    step_pages(page, "tensor(4.)")


@pytest.mark.parametrize("with_state", [False, True])
def test_what_nbconvert_writes_steps_without_network(browser: Any, tmp_path: Path, with_state: bool) -> None:
    write_notebook(tmp_path / "a.ipynb", PROGRAM, f"print('before')\n{STEPPER}", COMPARE)
    command = [sys.executable, "-m", "nbconvert", "--execute", f"--ExecutePreprocessor.store_widget_state={with_state}"]
    subprocess.run([*command, "--to=html", "a.ipynb"], cwd=tmp_path, check=True, capture_output=True)
    context = browser.new_context(viewport={"width": 1200, "height": 2400}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda e: wrong.append(str(e)))
    # nbconvert asks for MathJax and the like, whatever is in the notebook
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" and "DISCONNECTED" not in m.text else None)
    page.goto((tmp_path / "a.html").as_uri())
    page.locator("iframe").nth(2).wait_for()
    page.wait_for_timeout(1500)
    told = [o for o in page.evaluate(OUTPUTS) if not o.startswith(("<Stepper", "Compare("))]  # the live view as text
    assert told == ["before", "page", "page", "page"]
    step_pages(page, "tensor(4.)", "tensor(4.)", "tensor(3.)")
    context.close()
    assert not wrong
