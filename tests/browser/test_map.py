"""The map in a page: cards open in place, a card is one step, a card's figure and back; also in a file without a kernel."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import autograd_viz as av
from tests.maps import models
from tests.maps.models import Net, loss_of

from .lab import LabPage
from .test_debugger import press_key
from .test_stepper import Stepping

pytestmark = pytest.mark.browser

PROGRAM = re.sub(r'^""".*?"""\nfrom __future__ import annotations\n', "", inspect.getsource(models), flags=re.DOTALL)
PROGRAM = PROGRAM[PROGRAM.index("from typing") :] + "\nmodel = Net(6)\nloss = loss_of(model)"


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(PROGRAM, "s = av.step(loss)\ns")
    lab.run_all()
    stepping = Stepping(lab)
    stepping.widget.focus()
    press_key(stepping, "i")  # the panel of a map is closed at first
    return stepping


def card(widget: Any, path: str) -> Any:
    return widget.locator(f'.card[data-path="{path}"]')


def test_cards_open_run_in_one_step_and_lead_to_their_figure(stepping: Stepping) -> None:
    widget = stepping.widget
    expect(card(widget, "blocks.5")).to_have_count(1)
    expect(card(widget, "blocks.5.first")).to_have_count(0)
    widget.locator(".av-i-module", has_text="blocks.5Block").last.click()
    widget.get_by_role("button", name="Expand", exact=True).click()
    expect(card(widget, "blocks.5.first")).to_be_visible()
    stepping.press("next")
    stepping.wait_for_step(1)
    stepping.press("step_over")
    stepping.wait_for_step(2)
    stepping.press("step_over")
    expect(widget.locator(".av-did")).to_contain_text("head: ")
    assert stepping.lab.run_code("print(model.head.weight.grad is None)") == "False"
    expect(card(widget, "head").locator(".cell").first).to_contain_text("grad ")
    press_key(stepping, "u")
    expect(widget.locator(".av-did")).to_contain_text("blocks.5")
    widget.locator(".av-i-module", has_text="headLinear").click()
    widget.get_by_role("button", name="Figure").click()
    expect(widget.locator(".av-map")).to_be_visible()
    expect(widget.locator(".av-picture")).to_contain_text("head.weight")
    stepping.press("map")
    expect(card(widget, "head")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_barriers_on_a_map(open_notebook: Callable[..., LabPage], dark: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    lab = open_notebook(PROGRAM, "s = av.step(loss)\ns.leave('head')\ns")
    with lab.dark() if dark else nullcontext():
        lab.run_all()
        widget = Stepping(lab).widget
        widget.focus()
        lab.page.keyboard.press("i")
        widget.locator(".av-i-module", has_text="headLinear").click()
        found = Axe().run(lab.page, context=".av-root").response["violations"]
    assert not found, [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found]


def test_a_saved_map_opens_and_closes_without_a_kernel(tmp_path: Path, browser: Any) -> None:
    model = Net(6)
    av.save(av.map(loss_of(model)), tmp_path / "m.html")
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto((tmp_path / "m.html").as_uri())
    height = page.locator(".av-picture").get_attribute("viewBox")
    card(page, "blocks.0").locator(".opener").click()
    expect(card(page, "blocks.0.second")).to_be_visible()
    assert page.locator(".av-picture").get_attribute("viewBox") != height
    card(page, "blocks.0").locator("> .opener").click()
    expect(card(page, "blocks.0.second")).to_be_hidden()
    assert page.locator(".av-picture").get_attribute("viewBox") == height
    assert page.get_by_role("button", name="Figure").count() == 0
    page.close()
    assert faults == []


def test_a_search_comes_to_what_it_finds_the_tree_folds_and_zooming_out_ends(stepping: Stepping) -> None:
    widget = stepping.widget
    names = widget.locator(".av-i-module")
    expect(names.filter(has_text="first")).to_have_count(0)  # what is closed on the map is folded
    widget.get_by_role("button", name="Expand blocks.5").click()
    expect(names.filter(has_text="first")).to_have_count(1)
    widget.get_by_role("button", name="Collapse blocks.5").click()
    expect(names.filter(has_text="first")).to_have_count(0)
    widget.focus()
    for _ in range(30):
        press_key(stepping, "-")
    stage = widget.locator(".av-stage")
    expect(stage).to_have_class(re.compile("av-whole"))
    field = widget.locator(".av-search-field")
    field.fill("blocks.4.second")
    field.press("Enter")
    found = card(widget, "blocks.4.second")
    expect(found).to_be_in_viewport()
    letters = found.locator("text").last.evaluate("t => Math.min(t.getBoundingClientRect().height)")
    assert letters >= 11
    box, room = found.bounding_box(), stage.bounding_box()
    assert room["y"] <= box["y"]
    assert box["y"] + box["height"] <= room["y"] + room["height"]
