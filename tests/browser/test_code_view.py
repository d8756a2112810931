"""The user's code beside the figure: what just ran and what is next, breakpoints by line, and what the pointer is at."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from .lab import LabPage
from .test_stepper import IMPORT, PROGRAM, STEP, Stepping

pytestmark = pytest.mark.browser


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(IMPORT, PROGRAM, STEP)
    lab.page.set_viewport_size({"width": 1700, "height": 900})
    lab.run_all()
    return Stepping(lab)


def line(stepping: Stepping, number: int) -> Locator:
    return stepping.widget.locator(".av-c-line").nth(number - 1)


def top(stepping: Stepping, mark: str) -> float:
    box = stepping.widget.locator(f".av-c-mark-{mark}").bounding_box()
    assert box is not None
    return box["y"]


def test_backward_the_marks_go_up_and_values_and_gradients_stand_at_their_lines(stepping: Stepping) -> None:
    expect(line(stepping, 5)).to_contain_text("e = 24.0")
    expect(line(stepping, 5).locator(".av-c-mark")).to_have_text("next")
    stepping.press("next")
    expect(line(stepping, 5)).to_contain_text("just ran")
    expect(line(stepping, 5)).to_contain_text("∂\u00a01.0")
    expect(line(stepping, 5).locator("mark")).to_have_text("c * d")
    first = top(stepping, "ran")
    stepping.press("next")
    stepping.press("next")
    expect(line(stepping, 3)).to_contain_text("just ran")
    expect(line(stepping, 3)).to_contain_text("c = 6.0∂\u00a04.0")
    assert top(stepping, "ran") < first and top(stepping, "next") < top(stepping, "ran")
    stepping.widget.locator(".av-slider").fill("0")
    expect(stepping.widget.locator(".av-c-grad")).to_have_count(0)


def test_a_click_on_a_line_number_stops_the_run_there(stepping: Stepping) -> None:
    number = stepping.widget.get_by_role("button", name="Stop at line 3", exact=True)
    number.click()
    expect(number).to_have_attribute("aria-pressed", "true")
    stepping.press("run")
    stepping.wait_for_step(2)
    expect(line(stepping, 3).locator(".av-c-mark")).to_have_text("next")
    number.focus()
    stepping.page.keyboard.press("Enter")
    expect(number).to_have_attribute("aria-pressed", "false")
    stepping.press("run")
    stepping.wait_for_step(5)


def test_a_line_selects_its_node_and_a_node_lights_its_expression(stepping: Stepping) -> None:
    code = line(stepping, 5).locator(".av-c-code")
    code.focus()
    stepping.page.keyboard.press("ArrowUp")
    stepping.page.keyboard.press("ArrowUp")
    expect(line(stepping, 3).locator(".av-c-code")).to_be_focused()
    stepping.page.keyboard.press("Enter")
    stepping.widget.get_by_role("button", name="Details", exact=True).click()
    expect(stepping.widget.locator(".av-inspector")).to_contain_text("MulBackward0")
    expect(stepping.widget.locator(".av-inspector")).to_contain_text("Mul(a, b)")
    stepping.widget.locator('[data-at="n1"] > .outline').hover(position={"x": 30, "y": 8})
    expect(line(stepping, 5).locator(".av-c-pointed")).to_have_text("c * d")


def test_it_folds_away_and_stays_away_in_another_picture(open_notebook: Callable[..., LabPage]) -> None:
    loop = "x = a = av.tensor(0.9, requires_grad=True)\nfor _ in range(30):\n    x = x * a\ns = av.step(x, collapse=True)\ns"
    lab = open_notebook(IMPORT, loop)
    lab.page.set_viewport_size({"width": 1700, "height": 900})
    lab.run_all()
    stepping = Stepping(lab)
    view = stepping.widget.locator(".av-listing")
    stepping.press("next")
    expect(view.locator(".av-c-turn")).to_have_text("turn 30 of 30")
    stepping.press("code")
    expect(view).to_be_hidden()
    expect(stepping.widget.locator(".av-code")).to_have_attribute("aria-expanded", "false")
    lab.run_code("s.expand(s.drawing.tree.groups[0].id if list(s.drawing.tree.groups) else 'x')")
    expect(stepping.widget.locator(".av-listing")).to_be_hidden()
    stepping.widget.focus()
    lab.page.keyboard.press("l")
    expect(stepping.widget.locator(".av-listing")).to_be_visible()


def test_one_line_of_code_is_that_of_the_step_as_soon_as_it_is_one_line(stepping: Stepping) -> None:
    stepping.page.set_viewport_size({"width": 1280, "height": 720})
    stepping.widget.locator(".av-present").click()
    code = stepping.widget.locator(".av-c-line").last.locator("..")
    expect(stepping.widget.locator(".av-code-line")).to_be_visible()
    seen = code.evaluate("list => [list.scrollTop, list.querySelector('.av-c-mark-next').closest('li').offsetTop]")
    assert seen[0] == pytest.approx(seen[1], abs=3)


def test_an_empty_line_has_its_height_and_presented_the_code_has_letters_of_18_px(
    open_notebook: Callable[..., LabPage],
) -> None:
    lab = open_notebook(IMPORT, PROGRAM.replace("c = a * b", "\nc = a * b"), STEP)
    lab.page.set_viewport_size({"width": 1700, "height": 900})
    lab.run_all()
    stepping = Stepping(lab)
    heights = "all => all.map(e => e.getBoundingClientRect().height)"
    plain = stepping.widget.locator(".av-c-line").evaluate_all(heights)
    assert len(plain) == 6 and plain[2] == min(plain) == 18
    stepping.widget.locator(".av-present").click()
    expect(stepping.widget.locator(".av-present")).to_have_attribute("aria-pressed", "true")
    presented = stepping.widget.locator(".av-c-line").evaluate_all(heights)
    assert presented[2] == min(presented) == 27  # 18 px, with what is between lines


def test_in_a_narrow_widget_it_is_folded_first_and_never_scrolls_the_notebook(open_notebook: Callable[..., LabPage]) -> None:
    lines = "\n".join(["x = av.tensor(1.0, requires_grad=True)", *["x = x * 2  # " + "long " * 9] * 40, "s = av.step(x)", "s"])
    lab = open_notebook(IMPORT, lines)
    lab.page.set_viewport_size({"width": 700, "height": 768})
    lab.run_all()
    stepping = Stepping(lab)
    expect(stepping.widget.locator(".av-listing")).to_be_hidden()
    lab.page.set_viewport_size({"width": 1700, "height": 900})
    expect(stepping.widget.locator(".av-listing")).to_be_visible()
    scrolled = "() => [...document.querySelectorAll('.jp-WindowedPanel-outer')].map((e) => e.scrollTop)"
    stepping.widget.evaluate("e => e.scrollIntoView({ block: 'start' })")
    lab.page.wait_for_timeout(300)  # the notebook makes its cells while it scrolls
    before = lab.page.evaluate(scrolled)
    for step in range(1, 4):
        stepping.press("next")
        stepping.wait_for_step(step)
        inside = """(mark) => {
            const [row, list] = [mark.closest("li"), mark.closest("ol")].map((e) => e.getBoundingClientRect());
            return row.top >= list.top && row.bottom <= list.bottom;
        }"""
        assert all(mark.evaluate(inside) for mark in stepping.widget.locator(".av-c-mark").all())
    assert lab.page.evaluate(scrolled) == before
    assert re.fullmatch(r"\d+", str(stepping.widget.locator(".av-c-has-ran .av-c-number").text_content()))


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_barriers_in_a_call_stack(open_notebook: Callable[..., LabPage], dark: bool) -> None:
    from contextlib import nullcontext

    from axe_playwright_python.sync_playwright import Axe

    model = """from autograd_viz import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
    def forward(self, x):
        return self.lin(x).tanh()  # a comment
net = Net()
s = av.step(net(av.ones(1, 2)).sum() * 1.5)
s.goto(3)
s"""
    lab = open_notebook(IMPORT, model)
    lab.page.set_viewport_size({"width": 1700, "height": 900})
    with lab.dark() if dark else nullcontext():
        lab.run_all()
        stepping = Stepping(lab)
        expect(stepping.widget.locator(".av-c-stack")).to_contain_text("Net.forward")
        found = Axe().run(lab.page, context=".av-listing").response["violations"]
    assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found]
