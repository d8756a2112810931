"""Every notebook in JupyterLab: all cells run, every stepper goes to its end, every question is answered wrong and right."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from ..test_notebooks import IN_BROWSER, ROOT
from .conftest import NOTEBOOKS
from .lab import LabPage

pytestmark = pytest.mark.browser
BY_HAND = ["04_where_gradients_meet.ipynb"]  # rows, choices and an order; the others answer with the same events

ANSWERS = """
import json as _json
from ipywidgets.widgets import widget as _widgets
from autograd_viz.lessons import QuestionWidget as _Question
from autograd_viz.widget.widget import StepperWidget as _Stepper

def _given(question):
    q = question.question
    if q.kind == "row":
        right = "None" if q.answer is None else q.answer.text
        return q.kind, right, "12345"
    order, count = list(q.answer), len(q.options)
    if q.kind == "order":
        return q.kind, order, order[::-1]
    if q.kind == "many":
        return q.kind, order, [i for i in range(count) if i not in order]
    return q.kind, order, [(order[0] + 1) % count]

def _within(widget):
    return [widget, *(w for child in getattr(widget, "children", ()) for w in _within(child))]

_asked = [_given(w) for w in _widgets._instances.values() if isinstance(w, _Question)]
_shown = [w for id in SHOWN for w in _within(_widgets._instances[id])]
print(_json.dumps([_asked, sum(isinstance(w, _Stepper) for w in _shown)]))
"""
SHOWN = """() => window.jupyterapp.shell.currentWidget.content.model.toJSON().cells.flatMap(c => c.outputs ?? [])
  .map(o => o.data?.['application/vnd.jupyter.widget-view+json']?.model_id).filter(id => id)"""
MODEL = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON()"
# every stepper to its start and to its end, one after the other
WALK = """async (roots) => {
  const said = [];
  for (const root of roots) for (const action of ['reset', 'finish']) {
    root.querySelector('.av-' + action).click();
    const deadline = performance.now() + 15000;
    const counter = () => root.querySelector('.av-counter').textContent.match(/(-?\\d+) \\/ (\\d+)/);
    for (;;) {
      const [, at, of] = counter() ?? [];
      if (action === 'reset' ? at === '0' : at !== undefined && at === of) break;
      if (performance.now() > deadline) return ['stuck at ' + root.querySelector('.av-counter').textContent];
      await new Promise((r) => setTimeout(r, 20));
    }
    said.push(root.querySelector('.av-error').textContent);
  }
  return said;
}"""
# what the page makes of an answer, when it has been judged
JUDGED = """(root, before) => new Promise((done) => {
  const look = () => {
    const { state, answered } = root.dataset;
    if (state === 'waiting' || answered === before) setTimeout(look, 10);
    else done([state, root.querySelector('.av-q-why')?.textContent ?? '']);
  };
  look();
})"""
# the events of a mouse without a mouse, for all questions at once
GIVE = f"""(roots, answers) => Promise.all(roots.map((root, at) => {{
  const [kind, answer] = answers[at];
  const before = root.dataset.answered;
  if (kind === 'row') {{
    const input = root.querySelector('.av-q-input');
    input.value = answer;
    input.dispatchEvent(new Event('input', {{ bubbles: true }}));
  }} else if (kind === 'order') {{
    root.querySelector('.av-q-clear').click();
    for (const index of answer) root.querySelectorAll('button.av-q-option')[index].click();
  }} else {{
    root.querySelectorAll('input').forEach((box, index) => {{
      const wanted = answer.includes(index);
      if (box.checked !== wanted && (kind === 'many' || wanted)) box.click();
    }});
  }}
  root.querySelector('.av-q-check').click();
  return ({JUDGED})(root, before);
}}))"""


def by_hand(question: Any, kind: str, answer: Any) -> list[str]:
    """Answer with mouse and keyboard."""
    before = question.get_attribute("data-answered")
    if kind == "row":
        question.locator(".av-q-input").fill(answer)
    elif kind == "order":
        question.locator(".av-q-clear").click()
        for index in answer:
            question.locator("button.av-q-option").nth(index).click()
    else:
        for index, box in enumerate(question.locator("input").all()):
            if box.is_checked() != (index in answer) and (kind == "many" or index in answer):
                box.click()
    question.locator(".av-q-check").click()
    return list(question.evaluate(JUDGED, before))


def judged(questions: Any, answers: list[tuple[str, Any]], name: str) -> list[list[str]]:
    """What the page makes of each answer, and why."""
    if name in BY_HAND:
        return [by_hand(questions.nth(at), *answer) for at, answer in enumerate(answers)]
    return list(questions.evaluate_all(GIVE, answers))


def all_of(lab: LabPage, selector: str, count: int) -> Any:
    """So many live views: JupyterLab draws outputs some time after their cells have run."""
    found = lab.page.locator(".jp-NotebookPanel:visible").locator(selector)
    expect(found).to_have_count(count)
    return found


def store_outputs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("store_outputs", ROOT / ".ci" / "store_outputs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_outputs(lab: LabPage, name: str) -> None:
    """What is stored is what running gives."""
    storing, plain = store_outputs(), lab.page.evaluate(MODEL)
    for cell in plain["cells"]:
        cell.pop("attachments", None)  # which is null there where there is none
    stored, fresh = (
        json.loads(storing.comparable(n))["cells"]
        for n in (nbformat.read(NOTEBOOKS / name, as_version=4), storing.settled(nbformat.from_dict(plain)))
    )
    changed = [f["source"] for s, f in zip(stored, fresh, strict=True) if s.get("outputs") != f.get("outputs")]
    assert not changed, f"stored outputs differ from what running gives; run .ci/store_outputs.py: {changed}"


@pytest.mark.torch  # which the notebooks compare with
@pytest.mark.parametrize("name", IN_BROWSER)
def test_a_notebook_runs_as_stored_steps_to_the_end_and_judges_answers(
    open_notebook: Callable[..., LabPage], name: str
) -> None:
    lab = open_notebook(name=name)
    lab.page.emulate_media(reduced_motion="reduce")  # every step of every stepper is drawn once
    lab.run_all()
    check_outputs(lab, name)
    asked, steppers = json.loads(lab.run_code(ANSWERS.replace("SHOWN", str(lab.page.evaluate(SHOWN)))))
    assert len(asked) >= 3
    assert not any(all_of(lab, ".av-root", steppers).evaluate_all(WALK))
    questions = all_of(lab, ".av-q-root", len(asked))
    for expected in ("again", "wrong"):
        for state, why in judged(questions, [(kind, wrong) for kind, _, wrong in asked], name):
            assert state == expected and why
    assert {state for state, _ in judged(questions, [(kind, right) for kind, right, _ in asked], name)} == {"right"}


SLEEP = """() => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  kernel.requestExecute({code: `
import os, time
while not os.path.exists("awake"):
    time.sleep(0.05)`});
}"""
ASKED = """import autograd_viz as av
from autograd_viz.lessons import ask
a = av.tensor(2.0, requires_grad=True)
b = av.tensor(3.0)
c = a * b"""


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_barriers(open_notebook: Callable[..., LabPage], dark: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    lab = open_notebook(ASKED, "ask.grad(a, of=c)", "ask.color(c)", "ask.order(c)", "ask.saves(c)")
    with lab.dark() if dark else nullcontext():
        lab.run_all()
        for question in all_of(lab, ".av-q-root", 4).all():
            question.locator(".av-q-show").click()
            question.locator(".av-q-why").wait_for()
        found = Axe().run(lab.page, context=".av-q-root").response["violations"]
    assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found]


def test_a_question_is_answered_by_keyboard_and_jupyterlab_does_not_get_the_keys(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(ASKED, "ask.grad(a, of=c)", "ask.order(c)")
    lab.run_all()
    row, order = all_of(lab, ".av-q-root", 2).all()
    stored = lab.page.get_by_text("Run this cell to answer.")
    expect(stored).to_have_count(2)
    for text in stored.all():
        expect(text).to_be_hidden()
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    before = lab.page.evaluate(cells)
    row.locator(".av-q-input").focus()
    lab.page.keyboard.type("add 1")
    lab.page.keyboard.press("Enter")
    row.locator(".av-q-verdict", has_text="Not understood").wait_for()
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.type("3.0")
    lab.page.keyboard.press("Enter")
    row.locator(".av-q-verdict", has_text="Right: 3.0.").wait_for()
    order.locator("button.av-q-option").nth(1).focus()
    for key in ("Space", "Shift+Tab", "Space", "Tab", "Tab", "Tab", "Enter"):
        lab.page.keyboard.press(key)
    order.locator(".av-q-verdict").wait_for()
    assert lab.page.evaluate(cells) == before


def test_a_silent_kernel_is_called_silent_and_what_was_written_stays(open_notebook: Callable[..., LabPage], root: Path) -> None:
    """(The page is patient for seconds.)"""
    lab = open_notebook(ASKED, "ask.grad(a, of=c)")
    lab.run_all()
    question = lab.page.locator(".av-q-root")
    question.locator(".av-q-input").fill("3")
    lab.page.evaluate(SLEEP)
    question.locator(".av-q-check").click()
    question.locator(".av-q-verdict", has_text="does not answer").wait_for()
    (root / "awake").touch()
    question.locator(".av-q-verdict", has_text="Right").wait_for()
    assert question.locator(".av-q-input").input_value() == "3"
