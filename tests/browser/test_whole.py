"""The figures of most notebooks are whole with letters that can be read: on a laptop at three steps, and presented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from .. import effort
from .conftest import NOTEBOOKS

pytestmark = pytest.mark.browser
READ_WHOLE = [p for p in sorted(NOTEBOOKS.rglob("*.ipynb")) if not "11" <= p.name[:2] <= "15"]  # which have maps, and runs
NAMES = [p.relative_to(NOTEBOOKS).as_posix() for p in READ_WHOLE]
CHINESE = ("zh/05",)  # the largest; the figures of the others are the English ones, too
ROOM = (936, 663)  # px that JupyterLab at 1366 × 768 leaves a cell's output beside its side bar
HALL = (1280, 720)  # px of a projector
LEAST, LEAST_PRESENTED = 10.98, 15.98  # px of a letter: the smallest are drawn so
SMALL = [  # presented, seven boxes below each other are whole with 11 px only
    ("10_a_transformer_you_can_see_whole.ipynb", 0),
    ("18_windows_time_and_cost.ipynb", 0),
]
LOOK = r"""(root) => {
  const svg = root.querySelector(".av-picture").closest("svg");
  const stage = root.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
  const isOut = (q) => !q.width || q.left < stage.left - 2 || q.right > stage.right + 2 || q.top < stage.top - 2 ||
    q.bottom > Math.min(stage.bottom, innerHeight) + 2;
  return [texts.filter((t) => isOut(t.getBoundingClientRect())).map(t=>t.textContent),
    Math.min(...texts.map((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))];
}"""


def frames(path: Path) -> str:
    """The pages of the steppers that a notebook shows, as they are stored: one has the front end for all."""
    outputs = [o for c in nbformat.read(path, as_version=4).cells for o in c.get("outputs", [])]
    stored = "".join(str(o.get("data", {}).get("text/html", "")) for o in outputs)
    found = re.findall(r"<iframe[^>]*></iframe>", stored)
    steppers = [frame for frame in found if "Backward pass stepper" in frame or "反向传播单步执行器" in frame]
    return "".join(steppers).replace('loading="lazy"', "")


def missed(figure: Any, least: float) -> tuple[list[str], float] | None:
    """The texts of a figure that are out of sight, and px of its smallest letters; none if it is whole, with such letters."""
    for _ in range(50):  # a page that has just opened chooses its detail
        cut, letters = figure.locator(".av-stage").evaluate(LOOK)
        if not cut and letters >= least:
            return None
        figure.locator(".av-root").evaluate("() => new Promise(done => setTimeout(done, 100))")
    return cut, letters


@pytest.mark.parametrize("name", [n for n in NAMES if effort.THOROUGH or not n.startswith("zh/") or n.startswith(CHINESE)])
def test_every_figure_is_whole_at_its_first_a_middle_and_its_last_step_and_presented(name: str, browser: Any) -> None:
    """(A page opens for each figure.)"""
    page = browser.new_page(viewport={"width": ROOM[0], "height": ROOM[1]}, reduced_motion="reduce")
    size = f"display: block; border: 0; width: {ROOM[0]}px; height: {ROOM[1]}px"
    page.set_content(f"<!doctype html><style>body {{ margin: 0 }} iframe {{ {size} }}</style>{frames(NOTEBOOKS / name)}")
    found = page.locator("iframe").all()
    assert found or "07" in name  # there the user's code would run, so no page is stored
    cropped = {}
    for number, frame in enumerate(found):
        frame.scroll_into_view_if_needed()
        figure = frame.content_frame
        figure.locator(".av-picture").first.wait_for()
        last = int(figure.locator(".av-slider").get_attribute("max"))
        for step in sorted({0, last // 2, last}):
            figure.locator(".av-slider").fill(str(step))
            figure.locator(".av-counter", has_text=f"{step} / ").wait_for()
            cropped[number, str(step)] = missed(figure, LEAST)
    page.set_viewport_size({"width": HALL[0], "height": HALL[1]})
    page.add_style_tag(content=f"iframe {{ width: {HALL[0]}px !important; height: {HALL[1]}px !important }}")
    for number, frame in enumerate(found):
        frame.scroll_into_view_if_needed()
        frame.content_frame.locator(".av-present").click()
        cropped[number, "presented"] = missed(frame.content_frame, LEAST if (name, number) in SMALL else LEAST_PRESENTED)
    page.close()
    assert not any(cropped.values()), cropped
