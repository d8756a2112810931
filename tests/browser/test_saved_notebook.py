"""What a notebook keeps of a stepper: a page that goes on stepping, and a picture where pages are not let in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from autograd_viz.cli.lab import FIRST

from .lab import VIEWPORT, LabPage, jupyterlab, write_notebook

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


def reopened(lab: LabPage, name: str) -> Any:
    """The page, with a notebook of which only the file is left, and a kernel that knows nothing."""
    lab.kernel = None
    lab.page.set_viewport_size({"width": 1200, "height": 2000})
    lab.open(name)
    return lab.page


def forgive(lab: LabPage) -> None:
    """JupyterLab looks for the widget that went with its kernel, in a view that nobody sees."""
    lab.errors[:] = [e for e in lab.errors if "widget model not found" not in e]


def step_pages(page: Any, *grads: str) -> None:
    """Every page goes to its end, and says there what `a` got."""
    for i, grad in enumerate(grads):
        frame = page.frame_locator("iframe >> visible=true").nth(i)
        for step in (1, 2):
            frame.locator(".av-next").click()
            assert frame.locator(".av-counter").text_content() == f"{step} / 2"
        assert grad in str(frame.locator('[data-at="t0.grad"]').first.text_content())


def test_steppers_step_in_a_notebook_opened_again(root: Path, open_notebook: Callable[..., LabPage]) -> None:
    """(Kernels start.)"""
    write_notebook(root / "again.ipynb", PROGRAM, STEPPER, COMPARE)
    lab = open_notebook(name="again.ipynb")
    lab.run_all()
    lab.page.locator(".av-root").nth(2).wait_for()
    expect(lab.page.locator("iframe")).to_have_count(3)
    expect(lab.page.locator(".jp-OutputArea-output img")).to_have_count(3)
    assert lab.page.evaluate(OUTPUTS) == ["live", "live"]
    assert lab.run_code("print(a.grad)") == "None"
    saved(lab)
    assert (root / "again.ipynb").stat().st_size < 900_000
    page = reopened(lab, "again.ipynb")
    page.locator("iframe").nth(2).wait_for()
    page.wait_for_timeout(1500)  # a live view would have had its chance
    assert page.evaluate(OUTPUTS) == ["page"] * 3
    step_pages(page, "4.", "4.", "3.")
    forgive(lab)

    plain = json.loads((root / "again.ipynb").read_text())
    plain["metadata"]["changed"] = "by somebody else"  # so JupyterLab does not trust it
    (root / "not_again.ipynb").write_text(json.dumps(plain))
    page = reopened(lab, "not_again.ipynb")
    page.locator(".jp-OutputArea-output img").nth(2).wait_for()
    assert [o for o in page.evaluate(OUTPUTS) if o in ("picture", "page")] == ["picture"] * 3
    sizes = "(all) => Promise.all(all.map((i) => i.decode().then(() => i.naturalWidth)))"
    found = page.locator(".jp-OutputArea-output img").evaluate_all(sizes)
    assert len(found) == 3 and all(size > 100 for size in found)


def test_a_notebook_that_lab_brings_steps_at_once_and_without_running(browser: Any) -> None:
    """(A JupyterLab of its own starts.)"""
    with jupyterlab(None) as server:
        page = browser.new_page(viewport=VIEWPORT)
        lab = LabPage(page, server, FIRST)
        frame = page.locator("iframe[srcdoc*='Backward pass stepper']").first
        frame.content_frame.locator(".av-next").wait_for()
        places: list[Any] = []
        while len(places) < 3 or places[-3:] != places[-1:] * 3:  # frames above it grow as they load, and push it out of sight
            frame.scroll_into_view_if_needed()
            places.append(frame.bounding_box())
            page.wait_for_timeout(300)
        frame.content_frame.locator(".av-next").click()
        assert frame.content_frame.locator(".av-counter").text_content() == "1 / 2"
        page.close()
    assert not lab.errors


def answer_in_frame(question: Any, given: str, state: str) -> str:
    """Answer a saved question; what it says."""
    question.locator(".av-q-input").fill(given)
    question.locator(".av-q-input").press("Enter")
    expect(question.locator(".av-q-root")).to_have_attribute("data-state", state)
    return str(question.locator(".av-q-said").text_content())


def test_questions_are_judged_in_a_notebook_opened_again(root: Path, open_notebook: Callable[..., LabPage]) -> None:
    write_notebook(root / "asked.ipynb", PROGRAM, "from autograd_viz.lessons import ask\nask.grad(a, of=e)")
    lab = open_notebook(name="asked.ipynb")
    lab.run_all()
    lab.page.locator(".av-q-root").wait_for()
    expect(lab.page.locator("iframe")).to_have_count(1)
    assert lab.page.evaluate(OUTPUTS.replace("av-root", "av-q-root")) == ["live"]
    saved(lab)
    page = reopened(lab, "asked.ipynb")
    page.locator("iframe").wait_for()
    page.wait_for_timeout(1000)  # a live view would have had its chance
    assert page.evaluate(OUTPUTS) == ["page"]
    question = page.frame_locator("iframe")
    assert "2.0 is one of 2 gradients" in answer_in_frame(question, "2", "again")
    assert "the answer is 4.0" in answer_in_frame(question, "3", "wrong")
    assert "Right: 4.0" in answer_in_frame(question, "4", "right")

    plain = json.loads((root / "asked.ipynb").read_text())
    plain["metadata"]["changed"] = "by somebody else"  # so JupyterLab does not trust it
    (root / "not_asked.ipynb").write_text(json.dumps(plain))
    page = reopened(lab, "not_asked.ipynb")
    page.get_by_text("Run this cell to answer").wait_for()
    assert "not found" not in str(page.evaluate(OUTPUTS))
    forgive(lab)


def test_code_of_the_users_runs_when_they_step_and_then_the_page_is_there(
    root: Path, open_notebook: Callable[..., LabPage]
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
    page = reopened(lab, "hooked.ipynb")
    page.locator("iframe").wait_for()
    step_pages(page, "4.")
    forgive(lab)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook that nbconvert has run, with the state of its widgets."""
    folder = tmp_path_factory.mktemp("nbconvert")
    write_notebook(folder / "a.ipynb", PROGRAM, f"print('before')\n{STEPPER}", COMPARE)
    command = ["--execute", "--ExecutePreprocessor.store_widget_state=True", "--to=notebook", "--inplace", "a.ipynb"]
    subprocess.run([sys.executable, "-m", "nbconvert", *command], cwd=folder, check=True, capture_output=True)
    return folder / "a.ipynb"


@pytest.mark.parametrize("with_state", [False, True])
def test_what_nbconvert_writes_steps_without_network(browser: Any, tmp_path: Path, executed: Path, with_state: bool) -> None:
    from nbconvert import HTMLExporter

    notebook = nbformat.read(executed, as_version=4)
    if not with_state:
        del notebook.metadata["widgets"]
    (tmp_path / "a.html").write_text(HTMLExporter().from_notebook_node(notebook)[0])
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
    step_pages(page, "4.", "4.", "3.")
    context.close()
    assert not wrong
