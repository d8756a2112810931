"""Looking around: hands on the picture, the bar, the map, arrays, the engine; little room and little motion."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from autograd_viz.pictures.files.image import png_bytes

from .lab import LabPage
from .test_debugger import dot, panel, press_key
from .test_stepper import IMPORT, PROGRAM, STEP, Stepping

pytestmark = pytest.mark.browser

CHAIN = "x = y = av.tensor(0.5, requires_grad=True)\nfor _ in range(60): y = (y * x).sin()"
NAN = "a = av.tensor([-1., 2.], requires_grad=True)\ne = (a.sqrt() * 0).sum()"


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(IMPORT, PROGRAM, STEP)
    lab.run_all()
    return Stepping(lab)


def opened(open_notebook: Callable[..., LabPage], *cells: str) -> Stepping:
    lab = open_notebook(IMPORT, *cells)
    lab.run_all()
    return Stepping(lab)


def view(stepping: Stepping) -> tuple[float, float, float]:
    """Where the picture's corner stands in the stage, and how many px of the page a px of the picture takes."""
    stage, box = stepping.widget.locator(".av-stage").bounding_box(), stepping.widget.locator(".av-picture").bounding_box()
    width = float(str(stepping.widget.locator(".av-picture").get_attribute("viewBox")).split()[2])
    assert stage and box
    return box["x"] - stage["x"], box["y"] - stage["y"], box["width"] / width


def drag(stepping: Stepping, start: tuple[float, float], by: tuple[float, float]) -> None:
    mouse = stepping.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(start[0] + by[0] / 2, start[1] + by[1] / 2, steps=3)
    mouse.move(start[0] + by[0], start[1] + by[1], steps=3)
    mouse.up()


def middle(place: Any) -> tuple[float, float]:
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_picture_is_dragged_zoomed_at_the_pointer_and_fitted(stepping: Stepping) -> None:
    stage = stepping.widget.locator(".av-stage")
    stepping.widget.focus()
    x, y, scale = view(stepping)
    corner = stage.bounding_box()
    assert corner
    drag(stepping, (corner["x"] + 6, corner["y"] + 6), (60, 40))  # outside of all text
    assert view(stepping) == pytest.approx((x + 60, y + 40, scale), abs=2)
    drag(stepping, (corner["x"] + corner["width"] - 6, corner["y"] + corner["height"] - 6), (-120, -80))
    assert view(stepping) == pytest.approx((x - 60, y - 40, scale), abs=2)
    node = middle(stepping.widget.locator('[data-at="n1"] > .outline'))
    stepping.page.mouse.move(*node)
    stepping.page.mouse.wheel(0, -200)
    stepping.page.wait_for_timeout(400)
    assert view(stepping)[2] == scale  # the wheel alone scrolls the page, also when the stage has the focus
    node = middle(stepping.widget.locator('[data-at="n1"] > .outline'))
    stepping.page.mouse.move(*node)
    stepping.page.keyboard.down("Control")
    stepping.page.mouse.wheel(0, -200)
    stepping.page.keyboard.up("Control")
    stepping.page.wait_for_timeout(400)
    assert view(stepping)[2] > 1.2 * scale
    assert middle(stepping.widget.locator('[data-at="n1"] > .outline')) == pytest.approx(node, abs=3)
    press_key(stepping, "0")
    stepping.page.wait_for_timeout(400)
    picture, room = stepping.widget.locator(".av-picture").bounding_box(), stage.bounding_box()
    assert picture and room and picture["height"] <= room["height"] + 1 and picture["width"] <= room["width"] + 1


def test_a_click_pins_a_box_and_the_pointer_lights_its_neighbours(stepping: Stepping) -> None:
    outline = stepping.widget.locator('[data-at="n1"] > .outline')
    outline.hover(position={"x": 30, "y": 14})
    for id in ("n1", "n0", "next:n1.0"):
        stepping.widget.locator(f'.near[data-at="{id}"]').first.wait_for(state="attached")
    expect(stepping.widget.locator('.near[data-at="t0"]')).to_have_count(0)
    outline.click(position={"x": 30, "y": 14})
    ring = stepping.widget.locator(".av-ring")
    expect(ring).to_have_attribute("visibility", "visible")
    press_key(stepping, "n", "Escape")
    expect(ring).to_have_attribute("visibility", "hidden")


def test_the_bar_between_picture_and_panel_moves_by_hand_and_by_key(stepping: Stepping) -> None:
    bar, side = stepping.widget.locator(".av-bar"), stepping.widget.locator(".av-side")
    before = side.bounding_box()
    drag(stepping, middle(bar), (-100, 0))
    after = side.bounding_box()
    assert before and after and after["width"] == pytest.approx(before["width"] + 100, abs=6)
    share = int(str(bar.get_attribute("aria-valuenow")))
    bar.focus()
    stepping.page.keyboard.press("ArrowRight")
    assert int(str(bar.get_attribute("aria-valuenow"))) == share - 5


def test_the_map_of_a_large_picture_leads_there(open_notebook: Callable[..., LabPage]) -> None:
    stepping = opened(open_notebook, CHAIN, 's = av.step(y, collapse=False, detail="full")\ns')
    across, down = middle(stepping.widget.locator(".av-minimap"))
    stepping.page.mouse.click(across, down)
    x, y, _ = view(stepping)
    room, picture = stepping.widget.locator(".av-stage").bounding_box(), stepping.widget.locator(".av-picture").bounding_box()
    assert room and picture
    assert y + picture["height"] / 2 == pytest.approx(room["height"] / 2, abs=0.02 * picture["height"])
    assert x + picture["width"] / 2 == pytest.approx(room["width"] / 2, abs=0.1 * picture["width"])
    stepping.widget.locator(".av-picture > g > .outline").nth(4).wait_for(state="attached")


IS_SEEN = """([root, id]) => {
  const box = root.querySelector(`.av-picture [data-at="${id}"] > .outline`);
  const [at, room, map] = [box, ...['.av-stage', '.av-minimap'].map(name => root.querySelector(name))]
    .map(e => e?.getBoundingClientRect());
  const inside = at && at.x >= room.x && at.y >= room.y && at.right <= room.right && at.bottom <= room.bottom;
  return inside && !(at.right > map.x && at.bottom > map.y);
}"""


def wait_to_see(stepping: Stepping, *ids: str) -> None:
    """Their boxes are in the stage, and not under the map."""
    for id in ids:
        stepping.page.wait_for_function(IS_SEEN, arg=[stepping.widget.element_handle(), id])


def test_a_pass_begins_at_the_root_and_ends_at_the_leaf(open_notebook: Callable[..., LabPage]) -> None:
    """Of a large picture: its upper left corner has neither the loss nor what runs next."""
    stepping = opened(open_notebook, CHAIN, 's = av.step(y, collapse=False, detail="full")\ns')
    press_key(stepping, "l")  # room for a leaf beside its AccumulateGrad
    root, node = stepping.lab.run_code("print(s.stepper.document.roots[0], s.stepper.trace.start.queue[0])").split()
    wait_to_see(stepping, root, node)
    press_key(stepping, "End")
    expect(stepping.widget.locator(".av-sentence")).to_contain_text("complete")
    last = stepping.lab.run_code("last = s.stepper.trace.steps[-1]; print(last.node, last.accumulation.tensor)").split()
    wait_to_see(stepping, *last)
    press_key(stepping, "Home")
    stepping.wait_for_step(0)
    wait_to_see(stepping, root, node)


@pytest.mark.parametrize("program", [PROGRAM, CHAIN.replace("y", "e")])
def test_the_picture_as_it_is_now_can_be_saved_from_the_page(
    open_notebook: Callable[..., LabPage], tmp_path: Path, program: str
) -> None:
    """Whole, though a large one is drawn in part only, and with its colours in it."""
    stepping = opened(open_notebook, program, 's = av.step(e, collapse=False, detail="full")\ns')
    stepping.press("next")
    stepping.wait_for_step(1)
    with stepping.page.expect_download() as saved:
        stepping.press("download")
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    boxes = int(stepping.lab.run_code("g = s.drawing.geometry; print(len(g.boxes))"))
    svg = file.read_text(encoding="utf-8")
    assert file.name == "autograd.svg"
    tree = ET.fromstring(svg)
    groups = [g for g in tree if g.find("{*}title") is not None]
    assert len(groups) == boxes and not {"class", "style"} & {name for e in tree.iter() for name in e.attrib}
    fills = {e.get("fill") for e in tree.iter()}
    assert {"rgb(189, 235, 198)", "rgb(141, 211, 241)"} <= fills, "green and blue of the light theme"
    assert any(e.get("stroke") == "rgb(179, 0, 107)" for e in tree.iter()), "the step that has just run is lit"
    picture = Image.open(io.BytesIO(png_bytes(svg, 0.2)))
    assert picture.getextrema()[0][0] < 100


def test_what_steps_write_far_away_stands_there_when_one_comes_near(open_notebook: Callable[..., LabPage]) -> None:
    stepping = opened(open_notebook, CHAIN, 's = av.step(y, collapse=False, detail="full")\ns')
    nodes = stepping.widget.locator(".av-picture .node")
    nodes.first.wait_for(state="attached")
    at_first = nodes.count()
    stepping.widget.locator(".av-finish").click()
    expect(stepping.widget.locator(".av-sentence")).to_contain_text("complete")
    stepping.page.mouse.click(*middle(stepping.widget.locator(".av-minimap")))
    saved = stepping.widget.locator(".av-picture [data-at$='.saved']")
    expect(saved.first).to_contain_text("freed")
    assert all("freed" in words for words in saved.all_text_contents())
    assert saved.count() > 4 and at_first < 100  # the others were not even made


def test_an_array_is_a_heat_map_whose_values_can_be_read(open_notebook: Callable[..., LabPage]) -> None:
    program = "a = av.tensor([[1., -2., 3.], [4., 5., 6.]], requires_grad=True)\ne = (a * a).sum()"
    stepping = opened(open_notebook, program, STEP)
    stepping.widget.locator('[data-at="t0"] > .outline').click(position={"x": 20, "y": 12})
    cell = panel(stepping).locator('[data-index="1"]').first
    cell.hover()
    assert "[0, 1] = -2" in panel(stepping).locator(".av-h-element").first.inner_text()
    panel(stepping).locator("[data-heat]").first.focus()
    stepping.page.keyboard.press("ArrowDown")
    assert re.search(r"\[1, \d\] = ", panel(stepping).locator(".av-h-element").first.inner_text())


def test_the_engine_is_seen_queue_waiting_nodes_and_memory(stepping: Stepping) -> None:
    engine = panel(stepping).locator(".av-i-engine")
    held = engine.locator(".av-i-held").inner_text()
    stepping.press("next")
    stepping.wait_for_step(1)
    text = engine.inner_text()
    assert "AccumulateGrad (d)" in text and "MulBackward0 (c)" in text
    assert engine.locator(".av-i-held").inner_text() != held


def test_a_run_stops_where_a_gradient_became_nan_if_that_is_ticked(open_notebook: Callable[..., LabPage]) -> None:
    stepping = opened(open_notebook, NAN, STEP)
    stepping.press("stops")
    stepping.widget.get_by_label("A gradient is nan or inf").check()
    stepping.page.keyboard.press("Escape")
    press_key(stepping, "c")
    said = stepping.widget.locator(".av-stopped", has_text="became nan or inf at SqrtBackward0 (Sqrt(a))")
    said.wait_for()  # the kernel's words
    step = stepping.lab.run_code("print(s.step)")
    press_key(stepping, "Home")
    stepping.wait_for_step(0)
    said.wait_for(state="hidden")
    press_key(stepping, "c")
    stepping.wait_for_step(int(step))
    said.wait_for()  # the page's own, over recorded steps


def test_playing_halts_at_a_breakpoint_and_says_so(stepping: Stepping) -> None:
    dot(stepping, "n0").click()
    stepping.widget.locator(".av-speed").select_option("10")
    stepping.press("play")
    stepping.widget.locator(".av-stopped", has_text="breakpoint at MulBackward0 (c)").wait_for()
    stepping.wait_for_step(2)
    assert stepping.widget.locator(".av-play").get_attribute("aria-pressed") == "false"
    stepping.page.wait_for_timeout(400)
    assert stepping.lab.run_code("print(s.step)") == "2"


def test_nothing_moves_for_those_who_asked_for_less_motion(stepping: Stepping) -> None:
    runners = """() => new Promise(done => {
      let ran = 0;
      const isRunner = node => node.classList?.contains('runner');
      const look = new MutationObserver(all => ran += all.flatMap(m => [...m.addedNodes]).filter(isRunner).length);
      look.observe(document.querySelector('.av-root'), {childList: true, subtree: true});
      document.querySelector('.av-next').click();
      setTimeout(() => done(ran), 700);
    })"""
    assert stepping.page.evaluate(runners) > 0
    stepping.page.emulate_media(reduced_motion="reduce")
    assert stepping.page.evaluate(runners) == 0
    stepping.wait_for_step(2)


@pytest.mark.parametrize("width", [1280, 640])
def test_nothing_is_cut_at_twice_the_size(stepping: Stepping, width: int) -> None:
    """At 200 % a window of 1280 px has 640; JupyterLab's own side bar is closed then."""
    stepping.page.set_viewport_size({"width": width, "height": 700})
    stepping.page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
    stepping.press("next")
    stepping.wait_for_step(1)
    cut = """root => [...root.querySelectorAll('.av-toolbar, .av-toolbar *, .av-said, .av-said *, .av-side')]
      .filter(e => e.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).map(e => e.className)"""
    assert stepping.widget.evaluate(cut) == []
    assert stepping.widget.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_what_was_found_is_listed_inside_the_widget(open_notebook: Callable[..., LabPage]) -> None:
    name = "a_name_that_is_much_longer_than_the_field_in_which_it_is_looked_for"
    stepping = opened(open_notebook, f"{name} = av.tensor(2.0, requires_grad=True)\ne = {name} * 3", STEP)
    press_key(stepping, "/")
    stepping.page.keyboard.type("accum")
    listed, widget = stepping.widget.locator(".av-found").bounding_box(), stepping.widget.bounding_box()
    assert listed and widget and listed["x"] + listed["width"] <= widget["x"] + widget["width"]
