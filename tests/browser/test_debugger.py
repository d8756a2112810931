"""The stepper as a debugger: what a person does with it, in a real JupyterLab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .lab import LabPage
from .test_stepper import AFTER, IMPORT, LEAVES, PROGRAM, STEP, Stepping

pytestmark = pytest.mark.browser


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(IMPORT, PROGRAM, STEP)
    lab.run_all()
    return Stepping(lab)


def panel(stepping: Stepping) -> Any:
    return stepping.widget.locator(".av-inspector")


def press_key(stepping: Stepping, *keys: str) -> None:
    stepping.widget.focus()
    for key in keys:
        stepping.page.keyboard.press(key)


def dot(stepping: Stepping, node: str) -> Any:
    return stepping.widget.locator(f'.av-dot[data-node="{node}"] circle').first


def test_a_breakpoint_set_by_a_click_stops_the_run_before_its_node(stepping: Stepping) -> None:
    dot(stepping, "n0").click()
    press_key(stepping, "c")
    stepping.wait_for_step(2)
    assert stepping.kernel_grads() == ("None", "None", "tensor(6.)")
    assert "breakpoint" in str(stepping.widget.locator(".av-said").text_content())
    assert stepping.lab.run_code("print(sorted(s.stepper.stops.nodes))") == "['n0']"
    press_key(stepping, "c")
    stepping.wait_for_step(5)


def test_why_a_run_stopped_is_said_without_moving_the_picture(stepping: Stepping) -> None:
    stage = stepping.widget.locator(".av-stage")
    before = stage.bounding_box()
    dot(stepping, "n0").click()
    press_key(stepping, "c")
    stepping.widget.locator(".av-stopped", has_text="breakpoint").wait_for()
    assert stage.bounding_box() == before


def test_without_a_kernel_recorded_steps_replay_with_their_stops_and_the_rest_says_why(stepping: Stepping) -> None:
    """(The page waits seconds for the kernel.)"""
    for step in (1, 2, 3):
        stepping.press("next")
        stepping.wait_for_step(step)
    stepping.press("reset")
    stepping.wait_for_step(0)
    dot(stepping, "n0").click()
    stepping.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    stepping.page.wait_for_timeout(500)
    stepping.press("next")
    stepping.wait_for_step(1)
    stepping.press("run")
    stepping.wait_for_step(2)
    assert stepping.grads() == AFTER[2]
    stepping.press("finish")
    stepping.wait_for_step(3)
    stepping.widget.locator(".av-error", has_text="The kernel does not answer").wait_for()
    assert stepping.grads() == AFTER[3]
    stepping.lab.errors.clear()  # JupyterLab itself complains about the missing kernel


def test_run_to_here_by_a_double_click_on_a_node(stepping: Stepping) -> None:
    stepping.widget.locator('[data-at="n0"] .outline').first.dblclick(position={"x": 30, "y": 14})
    stepping.wait_for_step(2)
    stepping.page.wait_for_timeout(300)
    assert stepping.lab.run_code("print(s.step)") == "2"


def test_the_panel_shows_the_formula_what_arrived_and_where_it_goes(stepping: Stepping) -> None:
    for step in (1, 2, 3):
        stepping.press("next")
        stepping.wait_for_step(step)
    panel(stepping).get_by_text("grad * other").first.wait_for()
    text = panel(stepping).inner_text()
    for expected in ("MulBackward0", "grad * other", "4.0", "AccumulateGrad (a)", "a * b", "freed"):
        assert expected in text, (expected, text)
    assert panel(stepping).locator("mark").first.text_content() == "a * b"
    panel(stepping).get_by_role("button", name="AccumulateGrad (a)").first.click()
    assert "AccumulateGrad" in str(panel(stepping).locator("h3").text_content())


def test_the_panel_of_a_tensor_says_why_its_grad_is_what_it_is(stepping: Stepping) -> None:
    stepping.widget.locator(f'[data-at="{LEAVES["d"]}"] .outline').first.click(position={"x": 60, "y": 12})
    panel(stepping).get_by_text("has not reached it").wait_for()
    stepping.press("finish")
    stepping.wait_for_step(5)
    panel(stepping).get_by_text("6.0 arrived in step 2, and grad was None").wait_for()


def test_the_first_gradient_is_edited_in_the_panel_and_the_pass_goes_on_with_it(stepping: Stepping) -> None:
    field = panel(stepping).locator(".av-i-field").first
    field.fill("10")
    field.press("Enter")
    waiting = panel(stepping).locator(".av-i-pending")
    waiting.wait_for()
    assert waiting.text_content() == "edited: it will receive 10.0"
    stepping.press("finish")
    stepping.wait_for_step(5)
    assert stepping.kernel_grads() == ("tensor(120.)", "tensor(80.)", "tensor(60.)") == stepping.grads()


def test_an_edit_is_taken_back_in_the_panel_before_and_after_its_node_has_run(stepping: Stepping) -> None:
    waiting, undo = panel(stepping).locator(".av-i-pending"), panel(stepping).get_by_role("button", name="Undo the edit")
    stepping.lab.run_code("s.edit(10.)")
    undo.click()
    waiting.wait_for(state="detached")
    stepping.lab.run_code("s.edit(10.); s.finish(); s.reset()")
    stepping.wait_for_step(0)
    undo.click()
    waiting.wait_for(state="detached")
    stepping.press("finish")
    stepping.wait_for_step(5)
    assert stepping.kernel_grads() == ("tensor(12.)", "tensor(8.)", "tensor(6.)") == stepping.grads()


def test_on_until_a_gradient_reaches_a_tensor_and_the_line_says_so(stepping: Stepping) -> None:
    stepping.widget.locator(f'[data-at="{LEAVES["a"]}"] .outline').first.dblclick(position={"x": 60, "y": 12})
    stepping.wait_for_step(4)
    stopped = stepping.widget.locator(".av-stopped", has_text="a gradient reached a")
    stopped.wait_for()
    assert stepping.kernel_grads() == ("tensor(12.)", "None", "tensor(6.)")
    stepping.press("back")
    stopped.wait_for(state="hidden")
    stepping.wait_for_kernel(3)
    assert stepping.kernel_grads() == ("None", "None", "tensor(6.)")


def test_positions_before_0_replay_the_forward_pass_and_light_the_line(stepping: Stepping) -> None:
    press_key(stepping, "Home", "Home")
    counter = stepping.widget.locator(".av-counter")
    counter.filter(has_text="forward 0 / 2").wait_for()
    press_key(stepping, "ArrowRight")
    counter.filter(has_text="forward 1 / 2").wait_for()
    assert "c = Mul(a, b) computes 6.0" in stepping.sentence()
    press_key(stepping, "ArrowRight")
    counter.filter(has_text="0 / 5").wait_for()
    assert "e = Mul(c, d) computes" in stepping.sentence() and "The forward pass has run" in stepping.sentence()
    assert stepping.kernel_grads() == ("None", "None", "None")


IS_LIT = """root => {
  const [stage, box] = ['.av-stage', '.lit'].map(name => root.querySelector(name)?.getBoundingClientRect());
  return box && stage.top - 1 <= box.top && box.bottom <= stage.bottom + 1;
}"""


def test_a_large_picture_has_only_what_is_near_in_the_page_and_follows_the_step(open_notebook: Callable[..., LabPage]) -> None:
    chain = "x = y = av.tensor(0.5, requires_grad=True)\nfor _ in range(60): y = (y * x).sin()"
    lab = open_notebook(IMPORT, chain, "s = av.step(y, collapse=False)\ns")
    lab.run_all()
    stepping = Stepping(lab)
    boxes = stepping.widget.locator(".av-picture > g > .outline")
    boxes.nth(10).wait_for(state="attached")
    assert boxes.count() < 120
    for key, step in (("n", 1), ("End", 121), ("Home", 0), ("n", 1)):
        press_key(stepping, key)
        stepping.wait_for_step(step)
        if step:
            stepping.widget.locator(".fresh > .way").first.wait_for(state="attached")
            stepping.page.wait_for_function(IS_LIT, arg=stepping.widget.element_handle())
        assert boxes.count() < 120


def test_search_jumps_to_what_is_called_so(stepping: Stepping) -> None:
    press_key(stepping, "/")
    stepping.page.keyboard.type("accum")
    expect(stepping.widget.locator(".av-found-row")).to_have_count(3)
    stepping.page.keyboard.press("Enter")
    assert "AccumulateGrad" in str(panel(stepping).locator("h3").text_content())


# what of the list of keys is broken into lines or does not fit
CUT = """popup => [
  ...[...popup.querySelectorAll('dt')].filter(e => e.scrollWidth > e.clientWidth),
  ...[...popup.querySelectorAll('kbd')].filter(e => e.offsetHeight > 24 || e.offsetTop > e.parentElement.offsetTop + 6),
  ...[...popup.querySelectorAll('dl, dd'), popup].filter(e => e.scrollWidth > e.clientWidth + 1),
  ...[popup].filter(e => innerWidth > 1000 && e.scrollHeight > e.clientHeight + 1),
].map(e => e.textContent)"""


@pytest.mark.parametrize("width", [1500, 640])
def test_the_keys_are_listed_on_demand_and_escape_closes_the_list(stepping: Stepping, width: int) -> None:
    stepping.page.set_viewport_size({"width": width, "height": 1300})
    press_key(stepping, "?")
    shown = stepping.widget.locator(".av-popup:visible")
    assert "Home" in shown.inner_text()
    assert shown.evaluate(CUT) == []
    stepping.page.keyboard.press("Escape")
    expect(stepping.widget.locator(".av-popup:visible")).to_have_count(0)
    press_key(stepping, "?", "?", "n")  # opened and closed by the same key, the widget goes on hearing
    stepping.wait_for_step(1)


def test_what_the_notebook_does_to_grad_stands_in_the_picture(stepping: Stepping) -> None:
    stepping.press("next")
    stepping.wait_for_step(1)
    stepping.lab.run_code("a.grad = av.tensor(7.)")
    stepping.widget.locator('[data-at="t0.grad"]', has_text="tensor(7.)").first.wait_for()
    stepping.press("finish")
    stepping.wait_for_step(5)
    assert stepping.kernel_grads() == ("tensor(19.)", "tensor(8.)", "tensor(6.)") == stepping.grads()


def test_a_tensor_that_the_notebook_changes_in_place_is_told_and_its_panel_has_both_values(stepping: Stepping) -> None:
    stepping.widget.locator(f'[data-at="{LEAVES["d"]}"] .outline').first.click(position={"x": 60, "y": 12})
    stepping.lab.run_code("with av.no_grad(): d.mul_(10)")
    told = stepping.widget.locator(".av-drift")
    told.filter(has_text="Changed in place after drawing: d.").wait_for()
    panel(stepping).locator(".av-i-attributes dt", has_text="current data").wait_for()
    rows = dict(zip(*(panel(stepping).locator(f".av-i-attributes {of}").all_inner_texts() for of in ("dt", "dd")), strict=True))
    assert (rows["data"], rows["current data"], rows["version"]) == ("4.0", "40.0", "0, now 1")
    assert "tensor(4.)" in stepping.text(LEAVES["d"])


def test_a_hook_that_raises_is_shown_with_its_node_and_the_stepper_goes_on(open_notebook: Callable[..., LabPage]) -> None:
    hook = "mood = [1]\ndef hook(grad):\n    if mood: raise ValueError('not today')\nc.register_hook(hook)"
    lab = open_notebook(IMPORT, PROGRAM, hook, STEP)
    lab.run_all()
    stepping = Stepping(lab)
    stepping.press("finish")
    stepping.widget.locator(".av-error", has_text="not today").wait_for()
    assert lab.run_code("print(s.step, s.error_node)") == "0 n0"
    expect(stepping.widget.locator('[data-at="n0"].failed')).to_have_count(1)
    expect(stepping.widget.locator(".av-i-title")).to_have_text("MulBackward0")
    lab.run_code("mood.clear()")
    stepping.press("finish")
    stepping.wait_for_step(5)


def test_what_a_hook_prints_on_a_press_is_shown(open_notebook: Callable[..., LabPage]) -> None:
    """No cell runs whose output it could be."""
    lab = open_notebook(IMPORT, PROGRAM, "c.register_hook(lambda grad: print('c gets', grad.item()))", STEP)
    lab.run_all()
    stepping = Stepping(lab)
    stepping.press("finish")
    stepping.wait_for_step(5)
    stepping.widget.locator(".av-printed", has_text="c gets").wait_for()
    stepping.press("reset")
    assert lab.run_code("print(s.printed.count('c gets'))") == "1"


def test_compared_steppers_step_together(open_notebook: Callable[..., LabPage]) -> None:
    both = "p, q = av.step(e), av.step(a * 2)\np.next(); q.next()\nav.compare(p, q, titles=('long', 'short'))"
    lab = open_notebook(IMPORT, PROGRAM, both)
    lab.run_all()
    first, second = Stepping(lab), Stepping(lab, 1)
    first.wait_for_step(1)  # what was stepped before there was a page
    first.press("back")
    second.wait_for_step(0)
    first.press("next")
    second.wait_for_step(1)
    first.press("finish")
    first.wait_for_step(5)
    second.wait_for_step(2)


def test_the_page_speaks_chinese_when_asked(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, PROGRAM, "av.set_language('zh')", STEP)
    lab.run_all()
    stepping = Stepping(lab)
    assert any("\u4e00" <= c <= "\u9fff" for c in stepping.sentence())
    assert any("\u4e00" <= c <= "\u9fff" for c in str(stepping.widget.locator(".av-next").get_attribute("aria-label")))


@pytest.mark.parametrize("width", [1500, 640])
def test_axe_finds_no_barriers(stepping: Stepping, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    stepping.page.set_viewport_size({"width": width, "height": 1100})
    stepping.press("next")
    stepping.wait_for_step(1)
    found = Axe().run(stepping.page, context=".av-root").response["violations"]
    assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found]


def test_attributes_and_statistics_stand_beside_their_names(open_notebook: Callable[..., LabPage]) -> None:
    """JupyterLab has rules of its own for lists of definitions in outputs."""
    lab = open_notebook(IMPORT, "x = av.ones(4, 20, requires_grad=True); s = av.step((x * 2).sum())", "s")
    lab.run_all()
    stepping = Stepping(lab)
    stepping.widget.locator('[data-at="t0.grad"]').first.click()
    panel(stepping).locator(".av-i-statistics > summary").first.click()
    pairs = """(panel) => [...panel.querySelectorAll(".av-i-attributes > dt, .av-i-statistics dt")].map((dt) => {
        const [a, b] = [dt.getBoundingClientRect(), dt.nextElementSibling.getBoundingClientRect()];
        return [dt.textContent, Math.round(b.left - a.right), Math.abs(a.top - b.top) < 6, a.width > 0];
    })"""
    found = panel(stepping).evaluate(pairs)
    assert {"grad_fn", "min"} <= {name for name, *_ in found}
    assert all(0 <= gap < 120 and is_level and is_seen for _, gap, is_level, is_seen in found), found
