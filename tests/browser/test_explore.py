"""Sliders in JupyterLab: a drag, typed numbers, keys, and the newest value alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .lab import LabPage

pytestmark = pytest.mark.browser

CELL = """import autograd_viz as av
def f(x, w):
    return (x * w).sin() + x
e = av.explore(f, x=2.0, w=-3.0)
e"""


DRAG = """(slider) => {
  for (let i = 1; i <= 60; i++) {
    slider.value = String(2 - 0.05 * i);
    slider.dispatchEvent(new Event("input"));
  }
}"""


def test_a_drag_asks_for_its_newest_value_alone(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(CELL)
    lab.run_all()
    widget = lab.page.locator(".av-explore").first
    widget.wait_for()
    slider, field = widget.locator(".av-leaf-slider").first, widget.locator(".av-leaf .av-leaf-field").first
    said = widget.locator(".av-explore-line")
    slider.evaluate(DRAG)
    expect(field).to_have_value("-1")
    expect(said.first).to_contain_text("The output is −0.8589")  # sin(3) - 1
    assert lab.run_code("print(e.recorded['answers'], e.values['x'][0])") == "2 -1.0"
    slider.press("ArrowRight")
    expect(field).to_have_value("-0.95")
    field.fill("12.5")
    field.press("Enter")
    expect(said.nth(1)).to_contain_text("x + 1.0: the output changes by")
    slider.press("r")
    expect(said.first).to_contain_text("The output is 2.279")
    expect(field).to_have_value("2")
