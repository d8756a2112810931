"""Large graphs in groups: stepped as one box, opened by a double click, a key or the panel, and closed again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .lab import LabPage
from .test_debugger import panel, press_key
from .test_stepper import IMPORT, Stepping

pytestmark = pytest.mark.browser

DEEP = """x = av.tensor([1., -1.], requires_grad=True)
h = x
for i in range(6):
    with av.scope(f"block.{i}"):
        with av.scope("inner"):
            for _ in range(4):
                h = h * 0.5 + 1.0
        h = h.tanh()
loss = (h * h).sum()"""
STEP = "s = av.step(loss, collapse=True)\ns"
HIDDEN = """w = [av.tensor(0.5, requires_grad=True) for _ in range(3)]
h = w[0]
with av.scope('body'):
    h = (h * w[1]).sin() * w[2]
loss = h.exp()"""


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(IMPORT, DEEP, STEP)
    lab.run_all()
    return Stepping(lab)


def box(stepping: Stepping, title: str, side: str) -> Any:
    return stepping.widget.locator(f'g.{side}[data-at*="g"]', has_text=title).first


def titles(stepping: Stepping, side: str = "op") -> list[str]:
    """The names of the boxes of one side, from top to bottom."""
    named = stepping.widget.locator(f".av-picture > g.{side} > text:first-of-type").all_text_contents()
    return [str(name) for name in named]


def test_steps_inside_a_group_light_it_and_are_counted(stepping: Stepping) -> None:
    stepping.press("next")
    stepping.wait_for_step(1)
    stepping.press("next")
    stepping.wait_for_step(2)
    stepping.press("next")
    stepping.wait_for_step(3)
    lit = stepping.widget.locator(".lit")
    expect(lit).to_have_count(1)
    expect(lit).to_contain_text("block.0 … block.5")
    expect(lit).to_contain_text("1 of 54 nodes called")
    stepping.press("next")
    stepping.wait_for_step(4)
    expect(lit).to_contain_text("2 of 54 nodes called")
    stepping.press("back")
    stepping.wait_for_step(3)
    expect(lit).to_contain_text("1 of 54 nodes called")
    assert "TanhBackward0" in stepping.sentence()


def test_a_closed_group_that_is_called_covers_no_neighbours(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, DEEP, 's = av.step(loss, collapse=True, detail="names")\ns')
    lab.run_all()
    stepping = Stepping(lab)
    opened = stepping.widget.locator(".av-peek > g")
    for step, count in ((1, 1), (2, 1), (3, 0)):  # two nodes alone, then the first of a group
        stepping.press("next")
        stepping.wait_for_step(step)
        expect(opened).to_have_count(count)


def test_a_double_click_opens_a_group_where_it_stands_and_the_panel_closes_it(stepping: Stepping) -> None:
    for step in (1, 2, 3, 4):
        stepping.press("next")
        stepping.wait_for_step(step)
    group = box(stepping, "block.0 … block.5", "op")
    stepping.page.wait_for_timeout(500)  # the page has come to rest
    before = group.bounding_box()
    group.dblclick()
    first = box(stepping, "block.0", "op")
    stepping.widget.locator(".av-picture", has_text="block.3").wait_for()
    assert {f"block.{i}" for i in range(6)} <= set(titles(stepping))
    stepping.page.wait_for_timeout(500)
    after = first.bounding_box()
    assert abs(after["y"] - before["y"]) < 5  # what was clicked stays where it was
    assert "2 of 9 nodes called" in str(box(stepping, "block.5", "node").text_content())  # the steps so far are known
    first.click()
    panel(stepping).get_by_text("Collapse: block.0 … block.5").click()
    stepping.widget.locator(".av-picture", has_text="54 nodes").wait_for()
    assert "block.3" not in titles(stepping)
    stepping.press("next")
    stepping.wait_for_step(5)
    stepping.press("finish")
    stepping.widget.locator(".av-picture", has_text="54 of 54 nodes called").wait_for()
    assert stepping.lab.run_code("g = x.grad.clone(); s.reset(); loss.backward(); print(bool((g == x.grad).all()))") == "True"


def test_the_key_opens_and_closes_the_selected_group(stepping: Stepping) -> None:
    group = box(stepping, "block.0 … block.5", "op")
    group.click()
    before = group.bounding_box()
    press_key(stepping, "e")
    stepping.widget.locator(".av-picture", has_text="block.3").wait_for()
    after = box(stepping, "block.0", "op").bounding_box()
    assert abs(after["y"] - before["y"]) < 60  # what was opened stays about where it was, in the detail that is whole now
    assert stepping.widget.evaluate("w => w === document.activeElement")
    press_key(stepping, "e")  # the first block is selected now
    stepping.widget.locator(".av-picture", has_text="block.0.inner").wait_for()
    stepping.widget.locator("g.op", has_text=re.compile("^Tanh")).first.click()
    press_key(stepping, "e")
    stepping.widget.locator(".av-picture", has_text="block.0.inner").wait_for(state="detached")


def test_the_panel_of_a_group_tells_what_is_in_it(stepping: Stepping) -> None:
    box(stepping, "block.0 … block.5", "op").click()
    assert "group of 54 ops" in str(panel(stepping).text_content())
    assert "Mul × 24" in str(panel(stepping).text_content()) and "Tanh × 6" in str(panel(stepping).text_content())
    panel(stepping).get_by_text("Expand", exact=True).click()
    stepping.widget.locator(".av-picture", has_text="block.3").wait_for()


def test_what_a_closed_group_hides_is_found_and_uncovered(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, HIDDEN, "s = av.step(loss, collapse=True)\ns")
    lab.run_all()
    stepping = Stepping(lab)
    press_key(stepping, "/")
    stepping.page.keyboard.type("w[1]")
    expect(stepping.widget.locator(".av-found-row").first).to_contain_text("inside a collapsed group")
    stepping.page.keyboard.press("Enter")
    stepping.widget.locator('.av-picture g.tensor:has-text("w[1]")').wait_for()
    expect(stepping.widget.locator(".av-i-title")).to_have_text("w[1]")


def test_what_was_found_in_a_group_stays_in_sight_though_the_step_is_elsewhere(open_notebook: Callable[..., LabPage]) -> None:
    program = (
        "x = av.tensor([1.0, 2.0], requires_grad=True)\nw = [av.ones(2, requires_grad=True) for _ in range(12)]\ny = x\n"
        "for k in range(3):\n    with av.scope(f'part{k}'):\n        for i in range(4): y = (y * w[4 * k + i]).sin()\n"
        "loss = y.sum()"
    )
    lab = open_notebook(IMPORT, program, "s = av.step(loss, collapse=True)\ns")
    lab.run_all()
    stepping = Stepping(lab)
    stepping.press("next")
    stepping.wait_for_step(1)
    press_key(stepping, "/")
    stepping.page.keyboard.type("w[1]")
    stepping.page.keyboard.press("Enter")
    box = stepping.widget.locator('.av-picture g.tensor:has-text("w[1]")').first
    box.wait_for()
    stepping.page.wait_for_timeout(800)  # the picture has come to rest
    stage, found = stepping.widget.locator(".av-stage").bounding_box(), box.bounding_box()
    assert stage and found and stage["y"] <= found["y"] and found["y"] + found["height"] <= stage["y"] + stage["height"]


def test_far_out_boxes_are_blocks_with_a_name_and_near_they_have_rows(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, DEEP, 's = av.step(loss, collapse=False, detail="full")\ns')
    lab.run_all()
    stepping = Stepping(lab)
    picture = stepping.widget.locator(".av-picture")
    name, row = picture.locator(".av-name", has_text="loss"), picture.locator("g.tensor", has_text="loss").locator(".row").first
    stepping.widget.focus()
    row.wait_for()
    assert name.count() == 0
    press_key(stepping, *["-"] * 6)
    name.wait_for()
    row.wait_for(state="hidden")
    assert name.bounding_box()["height"] > 9
    press_key(stepping, "1")
    row.wait_for()
    name.wait_for(state="hidden")
