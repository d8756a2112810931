"""Fingers on a phone: one scrolls the page until the figure was tapped, two zoom the figure and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av

from .test_camera import SETTLED

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 780}
Points = list[tuple[float, float]]
PLACE = """() => {
  const [stage, picture] = ['.av-stage', '.av-picture'].map(name => document.querySelector(name).getBoundingClientRect());
  return [Math.round(picture.x - stage.x), Math.round(picture.y - stage.y)];
}"""
WIDTH = "() => document.querySelector('.av-picture').getBoundingClientRect().width"
AROUND = "() => [scrollY, visualViewport.scale]"


class Phone:
    """A page with a figure that is larger than its stage, and what fingers do there."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.line = page.context.new_cdp_session(page)

    def touch(self, kind: str, points: Points) -> None:
        given = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        self.line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": given})

    def drag(self, *ways: tuple[tuple[float, float], tuple[float, float]]) -> None:
        """A finger a way, all at once."""
        self.touch("touchStart", [start for start, _ in ways])
        for i in range(1, 11):
            self.touch("touchMove", [(x + (u - x) * i / 10, y + (v - y) * i / 10) for (x, y), (u, v) in ways])
        self.touch("touchEnd", [])

    @property
    def middle(self) -> tuple[float, float]:
        box = self.page.locator(".av-stage").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + min(box["height"], 400) / 2


@pytest.fixture
def phone(browser: Any, tmp_path: Path) -> Iterator[Phone]:
    x = av.tensor(0.5, requires_grad=True)
    for _ in range(12):
        x = (x * 2.0).sin() + x
    av.save(av.step(x, collapse=False), tmp_path / "x.html", detail="full")
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto((tmp_path / "x.html").as_uri())
    page.locator(".av-picture").first.wait_for()
    page.evaluate("document.body.style.paddingBottom = '1500px'")
    page.evaluate(SETTLED)
    yield Phone(page)
    context.close()


def test_one_finger_scrolls_the_page_past_a_figure_that_was_not_tapped(phone: Phone) -> None:
    page, (x, y) = phone.page, phone.middle
    assert not page.locator(".av-minimap").is_visible()  # it would take a quarter of the figure
    place = page.evaluate(PLACE)
    phone.drag(((x, y), (x, y - 150)))
    page.wait_for_function("() => scrollY > 60")
    assert page.evaluate(PLACE) == place


def test_two_fingers_zoom_the_figure_and_neither_scroll_nor_zoom_the_page(phone: Phone) -> None:
    page, (x, y) = phone.page, phone.middle
    width, around = page.evaluate(WIDTH), page.evaluate(AROUND)
    phone.drag(((x - 30, y), (x - 90, y)), ((x + 30, y), (x + 90, y)))
    page.wait_for_function(f"wide => ({WIDTH})() > 1.8 * wide", arg=width)
    assert page.evaluate(AROUND) == around
    phone.drag(((x - 90, y), (x - 45, y)), ((x + 90, y), (x + 45, y)))
    page.wait_for_function(f"wide => ({WIDTH})() < 1.6 * wide", arg=width)
    assert page.evaluate(AROUND) == around


def test_after_a_tap_one_finger_moves_the_figure_and_after_a_tap_elsewhere_the_page(phone: Phone) -> None:
    page, (x, y) = phone.page, phone.middle
    place, around = page.evaluate(PLACE), page.evaluate(AROUND)
    page.touchscreen.tap(x, y)
    phone.drag(((x, y), (x, y - 100)))
    page.wait_for_function(f"([left, top]) => ({PLACE})()[1] < top - 60", arg=place)
    assert page.evaluate(AROUND) == around
    place = page.evaluate(PLACE)
    page.touchscreen.tap(10, 5)
    phone.drag(((x, y), (x, y - 150)))
    page.wait_for_function("() => scrollY > 60")
    assert page.evaluate(PLACE) == place
