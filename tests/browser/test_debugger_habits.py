"""Steps over, into and out of a group; stops at norms; pins; the effect of an edit: in a page, by mouse and keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from playwright.sync_api import expect

import autograd_viz as av

from .lab import LabPage
from .test_debugger import panel, press_key
from .test_stepper import IMPORT, LEAVES, PROGRAM, STEP, Stepping

pytestmark = pytest.mark.browser

LAYERS = """w = av.tensor(0.5, requires_grad=True)
h = av.tensor([1.0, -1.0], requires_grad=True)
for i in range(3):
    with av.scope(f"layer{i}"):
        h = (h * w).sin().exp()
loss = (h * h).sum()"""


def test_a_group_is_one_step_and_is_opened_and_left(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, LAYERS, "s = av.step(loss, collapse=True)\ns.expand(s.drawing.tree.items[0].title)\ns")
    lab.run_all()
    stepping = Stepping(lab)
    did = stepping.widget.locator(".av-did")
    press_key(stepping, "n", "n")
    stepping.wait_for_step(2)
    stepping.press("step_over")
    expect(did).to_contain_text("layer2: 3 calls")
    stepping.wait_for_step(5)
    stepping.wait_for_kernel(5)
    press_key(stepping, "t")
    expect(stepping.widget.locator(".av-picture")).to_contain_text("ExpBackward0")
    stepping.wait_for_kernel(5)
    press_key(stepping, "n")
    stepping.wait_for_step(6)
    press_key(stepping, "u")
    stepping.wait_for_step(8)
    expect(did).to_contain_text("layer1: 3 calls")
    press_key(stepping, "b", "b")
    stepping.wait_for_step(6)
    expect(did).to_be_empty()
    stepping.press("step_out")  # over recorded steps, which the kernel need not know
    stepping.wait_for_step(8)
    expect(did).to_contain_text("layer1: 3 calls")


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(IMPORT, PROGRAM, STEP)
    lab.run_all()
    return Stepping(lab)


def test_stops_are_set_in_the_menu_listed_and_removed_there(stepping: Stepping) -> None:
    widget, lab = stepping.widget, stepping.lab
    widget.locator(f'[data-at="{LEAVES["d"]}"] .outline').first.click(position={"x": 60, "y": 12})
    stepping.press("stops")
    widget.get_by_role("checkbox", name="d gets its gradient").check()
    norm = widget.get_by_role("spinbutton", name="A norm rises above")
    norm.fill("5")
    norm.press("Tab")
    expect(widget.locator(".av-stop-list li")).to_have_count(2)
    lab.wait_for_code("print(s.stops)", "<Stops: d gets its gradient; A norm rises above 5>")
    stepping.page.keyboard.press("Escape")
    press_key(stepping, "c")
    expect(widget.locator(".av-stopped")).to_contain_text("a norm rose above 5 at MulBackward0 (e)")
    press_key(stepping, "c")
    expect(widget.locator(".av-stopped")).to_contain_text("d got its gradient")
    stepping.press("stops")
    widget.get_by_role("button", name="Remove: d gets its gradient").click()
    expect(widget.locator(".av-stop-list li")).to_have_count(1)
    lab.wait_for_code("print(s.stops)", "<Stops: A norm rises above 5>")


def test_a_pinned_gradient_is_in_sight_at_every_step(stepping: Stepping) -> None:
    pins = stepping.widget.locator(".av-pins")
    expect(pins).to_be_hidden()
    stepping.widget.locator(f'[data-at="{LEAVES["d"]}"] .outline').first.click(position={"x": 60, "y": 12})
    panel(stepping).get_by_role("button", name="d.grad").click()
    stepping.lab.run_code("s.pin('c')")
    stepping.press("finish")
    stepping.wait_for_step(5)
    expect(pins.locator("li")).to_have_text(["d.grad6.0step 2×", "gradient of c4.0step 3×"])
    press_key(stepping, "b", "b", "b", "b")
    expect(pins.locator(".av-pin-value")).to_have_text(["None", "None"])
    pins.get_by_role("button", name="Unpin: d.grad").click()
    expect(pins.locator("li")).to_have_count(1)
    stepping.lab.wait_for_code("print([p.name for p in s.stepper.pins])", "['gradient of c']")


def test_the_effect_of_an_edit_on_each_leaf_is_shown_before_it_is_made(stepping: Stepping) -> None:
    panel(stepping).locator(".av-i-how").select_option("scale")
    field = panel(stepping).locator(".av-i-field")
    field.press_sequentially("10")
    rows = panel(stepping).locator(".av-i-effect tr")
    expect(rows).to_have_text(["leafwithout the editwith it", "a12.0120.0", "b8.080.0", "d6.060.0"])
    assert stepping.kernel_grads() == ("None", "None", "None")
    expect(field).to_be_focused()
    field.press("Enter")
    panel(stepping).locator(".av-i-pending").wait_for()
    expect(rows).to_have_count(0)
    stepping.press("finish")
    stepping.wait_for_step(5)
    assert stepping.kernel_grads() == ("tensor(120.)", "tensor(80.)", "tensor(60.)")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_barriers_in_stops_pins_and_an_effect(stepping: Stepping, dark: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with stepping.lab.dark() if dark else nullcontext():
        stepping.lab.run_code("s.pin('a'); s.stop_on(above=5); s.next()")
        stepping.wait_for_step(1)
        press_key(stepping, "b")
        stepping.wait_for_step(0)
        panel(stepping).locator(".av-i-how").select_option("scale")
        panel(stepping).locator(".av-i-field").press_sequentially("10")
        panel(stepping).locator(".av-i-effect").wait_for()
        stepping.press("stops")
        found = Axe().run(stepping.page, context=".av-root").response["violations"]
    assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found]


def test_a_saved_page_has_its_pins_and_steps_over_its_groups(tmp_path: Any, browser: Any) -> None:
    names: dict[str, Any] = {"av": av}
    exec(LAYERS, names)  # the program of the notebook
    w, loss = names["w"], names["loss"]
    s = av.step(loss, collapse=True)
    s.pin(w)
    s.finish()
    at_end = w.grad.item()
    s.reset()
    av.save(s, tmp_path / "s.html")
    page = browser.new_page()
    page.goto((tmp_path / "s.html").as_uri())
    page.locator(".av-root").focus()
    for _ in range(2):
        page.keyboard.press("n")
    assert page.locator(".av-step_into").count() == 0
    page.keyboard.press("o")
    expect(page.locator(".av-did")).to_contain_text("gradients of parameters: 2")
    assert float(page.locator(".av-pin-value").inner_text()) == pytest.approx(at_end, rel=1e-5)
    page.close()
