"""Sliders in JupyterLab: a drag, typed numbers, keys, and the newest value alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .lab import LabPage

pytestmark = pytest.mark.browser

CELL = """import autograd_viz as av
import time
seen = []
def f(x, w):
    seen.append(x.item())
    time.sleep(0.002)
    return (x * w).sin() + x
e = av.explore(f, x=2.0, w=-3.0)
e"""


def test_a_drag_asks_for_its_newest_value_alone(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(CELL)
    lab.run_all()
    widget = lab.page.locator(".av-explore").first
    widget.wait_for()
    slider, field = widget.locator(".av-leaf-slider").first, widget.locator(".av-leaf .av-leaf-field").first
    box = slider.bounding_box()
    assert box is not None
    middle, reach = box["y"] + box["height"] / 2, box["width"]
    lab.page.mouse.move(box["x"] + reach * 0.7, middle)
    lab.page.mouse.down()
    for i in range(60):
        lab.page.mouse.move(box["x"] + reach * (0.7 - 0.005 * i), middle)
    lab.page.mouse.up()
    last = float(field.input_value())
    expect(widget.locator(".av-explore-line").first).to_contain_text(
        lab.run_code("print(f'{e.recorded[\"output\"]:.4g}'.replace('-', '−'))")
    )
    answers, value = lab.run_code("print(e.recorded['answers'], e.values['x'][0])").split()
    assert 1 <= int(answers) < 60 and float(value) == pytest.approx(last)
    slider.press("ArrowRight")
    expect(field).to_have_value(f"{last + 0.05:.4g}")
    field.fill("12.5")
    field.press("Enter")
    expect(widget.locator(".av-explore-line").nth(1)).to_contain_text("x + 1.0: the output changes by")
    widget.locator(".av-explore_reset").click()
    expect(field).to_have_value("2")
    assert lab.run_code("print(e.values)") == "{'x': [2.0], 'w': [-3.0]}"
