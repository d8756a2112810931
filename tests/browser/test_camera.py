"""What a person sees while stepping on a laptop, presenting, and of a picture without steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from .lab import LabPage
from .test_debugger import press_key
from .test_map import PROGRAM as MAP
from .test_stepper import IMPORT, PROGRAM, STEP, Stepping

pytestmark = pytest.mark.browser

LAPTOP = {"width": 1366, "height": 768}
LOW = {"width": 1366, "height": 640}
PROJECTOR = {"width": 1920, "height": 1080}
SMALL_PROJECTOR = {"width": 1280, "height": 720}
TWELVE = """a, b, c, d, f, g = (av.tensor(float(i), requires_grad=True) for i in range(6))
p = a * b
q = p * c
r = q * d
u = r * f
v = u * g
e = v.exp()"""

# of a box, what hides it: it is out of the stage or the window, or something lies over it
HIDDEN = """([root, kind]) => {
  const [stage, box] = ['.av-stage', `.av-picture .${kind} > .outline`].map(name => root.querySelector(name));
  if (!box) return '';
  const [room, at] = [stage, box].map(e => e.getBoundingClientRect());
  const isIn = (x, y) => x >= room.left && x <= room.right && y >= room.top && y <= room.bottom;
  if (!isIn(at.left, at.top) || !isIn(at.right, at.bottom)) return 'out of the stage';
  const spots = [[0.3, 0.1], [0.5, 0.5], [0.9, 0.9]].map(([u, v]) => [at.left + u * at.width, at.top + v * at.height]);
  const over = spots.map(([x, y]) => document.elementFromPoint(x, y)).find(e => !e?.closest('.av-stage'));
  return over === undefined ? '' : `under ${over?.className}`;
}"""
LETTERS = """root => {
  const svg = root.querySelector('.av-picture');
  const scale = svg.getBoundingClientRect().width / Number(svg.getAttribute('viewBox').split(' ')[2]);
  return Math.min(...[...svg.querySelectorAll('text')].map(e => Number.parseFloat(getComputedStyle(e).fontSize) * scale));
}"""
IS_WHOLE = """root => {
  const [a, b] = ['.av-picture', '.av-stage'].map(name => root.querySelector(name).getBoundingClientRect());
  return a.top >= b.top - 1 && a.bottom <= b.bottom + 1 && a.left >= b.left - 1 && a.right <= b.right + 1;
}"""
IS_AS_WIDE = """root => {
  const [a, b] = ['.av-picture', '.av-stage'].map(name => root.querySelector(name).getBoundingClientRect());
  return a.left >= b.left && a.right <= b.right;
}"""
CLOSE_SIDE_BAR = """async () => {
  const { shell, commands } = window.jupyterapp;
  if (!shell.leftCollapsed) await commands.execute('application:toggle-left-area');
}"""
# the widget at the top, once it and its picture stand still: the notebook makes its cells while it scrolls
SETTLED = """async () => {
  const where = () => ['.av-root', '.av-stage', '.av-picture'].map(name => {
    const { x, y, width, height } = document.querySelector(name)?.getBoundingClientRect() ?? {};
    return [x, y, width, height].map(Math.round);
  }).join();
  let before = '';
  for (let still = 0, tries = 0; still < 4 && tries < 100; tries++) {
    document.querySelector('.av-root')?.scrollIntoView({ block: 'start' });
    await new Promise(done => setTimeout(done, 40));
    const now = where();
    still = now === before ? still + 1 : 0;
    before = now;
  }
}"""
PICTURE = """root => {
    const r = root.querySelector('.av-picture').getBoundingClientRect();
    return [r.x, r.y - root.getBoundingClientRect().y, r.width]; // a panel below the stage is scrolled to
}"""


@pytest.fixture
def sized(open_notebook: Callable[..., LabPage]) -> Callable[..., Stepping]:
    """A stepper at the top of a window of some size."""

    def open_it(size: Any, *cells: str) -> Stepping:
        lab = open_notebook(IMPORT, *cells)
        lab.page.set_viewport_size(size)
        lab.page.evaluate(CLOSE_SIDE_BAR)
        lab.run_all()
        stepping = Stepping(lab)
        lab.page.evaluate(SETTLED)
        return stepping

    return open_it


def see(stepping: Stepping, kind: str) -> None:
    """Wait until a box is seen: the picture may be on its way."""
    stepping.page.wait_for_function(f"given => ({HIDDEN})(given) === ''", arg=[stepping.widget.element_handle(), kind])


def test_on_a_laptop_what_is_called_and_what_is_next_are_in_sight_at_every_step(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LAPTOP, TWELVE, STEP)
    tops = set()
    for step in range(13):
        stepping.wait_for_step(step)
        for kind in ("lit", "due"):
            see(stepping, kind)
        assert stepping.widget.evaluate(LETTERS) >= 11
        tops.add(stepping.widget.locator(".av-stage").evaluate("e => e.getBoundingClientRect().top"))
        if step < 12:
            tag = str(stepping.widget.locator(".av-due text").text_content()).removeprefix("next: ").split()[0]
            stepping.press("next")
            stepping.widget.locator(".av-sentence", has_text=tag).wait_for()
    assert len(tops) == 1, "no sentence moves the stage"
    expect(stepping.widget.locator(".av-due")).to_have_attribute("visibility", "hidden")


def test_on_a_laptop_a_map_is_seen_from_side_to_side_and_its_buttons_stand_in_one_row(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LAPTOP, MAP.replace("Net(6)", "Net(24)"), "s = av.step(loss)\ns")
    assert stepping.widget.evaluate(IS_AS_WIDE)
    for step in (1, 2, 3):
        stepping.press("next")
        stepping.wait_for_step(step)
        for kind in ("lit", "due"):
            see(stepping, kind)
    stepping.lab.run_code("s.figure('head')")
    for name in ("map", "step_over"):
        stepping.widget.locator(f".av-{name}").wait_for()
    stepping.page.set_viewport_size({"width": 1280, "height": 768})
    toolbar = stepping.widget.locator(".av-toolbar").bounding_box()
    assert toolbar and toolbar["height"] < 40


def test_a_forward_pass_with_groups_leaves_the_buttons_in_one_row(sized: Callable[..., Stepping]) -> None:
    program = "x = a = av.tensor(0.9, requires_grad=True)\nfor _ in range(30):\n    x = x * a"
    stepping = sized({**LAPTOP, "width": 1230}, program, "s = av.step(x, collapse=True)\ns")
    for key, counter in (("End", "31 / 31"), ("Home", "0 / 31"), ("Home", "forward 0 / 30")):
        press_key(stepping, key)
        expect(stepping.widget.locator(".av-counter")).to_have_text(counter)
        toolbar = stepping.widget.locator(".av-toolbar").bounding_box()
        assert toolbar and toolbar["height"] < 40


def test_looking_elsewhere_the_edge_of_the_stage_says_what_is_next_at_every_step(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LAPTOP, TWELVE, STEP)
    stage = stepping.widget.locator(".av-stage").bounding_box()
    assert stage
    stepping.page.mouse.move(stage["x"] + 300, stage["y"] + 20)
    stepping.page.mouse.down()
    stepping.page.mouse.move(stage["x"] + 300, stage["y"] + stage["height"] - 10, steps=4)
    stepping.page.mouse.up()
    edge = stepping.widget.locator(".av-beyond")
    for step, name in enumerate(["ExpBackward0 (e)", "MulBackward0 (v)", "AccumulateGrad (g)"]):
        stepping.wait_for_step(step)
        expect(edge).to_have_text(f"next: {name} ↓")
        stepping.press("next")


def test_the_forward_pass_starts_with_the_leaves_in_sight(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LAPTOP, TWELVE, STEP)
    slider = stepping.widget.locator(".av-slider")
    length = slider.evaluate("e => e.clientWidth")
    press_key(stepping, "Home")
    expect(stepping.widget.locator(".av-counter")).to_have_text("forward 0 / 6")
    assert slider.evaluate("e => e.clientWidth") == length, "the counter takes nothing from it"
    for leaf in ("t0", "t1"):
        expect(stepping.widget.locator(f'.av-picture [data-at="{leaf}"] > .outline')).to_be_in_viewport(ratio=0.99)


def test_a_small_graph_is_whole_on_a_laptop_and_stays_where_it_is_when_the_panel_comes_and_goes(
    sized: Callable[..., Stepping],
) -> None:
    stepping = sized(LAPTOP, PROGRAM, STEP)
    assert stepping.widget.evaluate(IS_WHOLE) and stepping.widget.evaluate(LETTERS) >= 11
    before = stepping.widget.evaluate(PICTURE)
    side = stepping.widget.locator(".av-side")
    was_open = side.is_visible()
    for _ in range(2):
        press_key(stepping, "i")
        expect(side).to_be_visible(visible=not was_open)
        was_open = not was_open
        assert stepping.widget.evaluate(PICTURE) == pytest.approx(before, abs=1)


WIDE = """a = av.tensor(100.0, requires_grad=True)
e = av.where(a <= 0, av.exp(a), 1 + a)"""
TALL = """a, b, d = (av.tensor(float(i), requires_grad=True) for i in (2, 3, 4))
c = a * b
e = c * d
""" + "\n".join(f"print({i})" for i in range(9))
UNBOUND = "a = av.tensor([1.0, 2.0, 3.0], requires_grad=True)\nb, c, d = a.unbind()\n" + "print(1)\n" * 12 + "e = b * c * d"


def is_read_whole(stepping: Stepping) -> bool:
    """Is all of it in the stage, with letters of 11 px (10.5 where a row is cut to its box)?"""
    for _ in range(20):  # the first view may be replaced by a shorter one at once
        if stepping.widget.evaluate(IS_WHOLE) and stepping.widget.evaluate(LETTERS) >= 10.5:
            return True
        stepping.page.wait_for_timeout(100)
    return False


@pytest.mark.parametrize(("program", "width"), [(WIDE, 1366), (TALL, 1250), (TALL, 1100), (UNBOUND, 1083)])
def test_the_figure_is_whole_whatever_code_stands_beside_it(sized: Callable[..., Stepping], program: str, width: int) -> None:
    stepping = sized({**LAPTOP, "width": width}, program, STEP)
    code = stepping.widget.locator(".av-listing")
    for step in (0, 1, 2):
        stepping.wait_for_step(step)
        assert is_read_whole(stepping)
        expect(code).to_be_visible()
        if step < 2:
            stepping.press("next")


def test_the_rules_stand_below_the_code_where_the_figure_is_whole_only_so(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LAPTOP, PROGRAM, STEP)
    stage, rules = stepping.widget.locator(".av-stage"), stepping.widget.locator(".av-rules-beside > .av-formulas")
    places = set()
    for step in (0, 1, 2):
        stepping.wait_for_step(step)
        assert is_read_whole(stepping)
        places.add(stage.evaluate("e => e.getBoundingClientRect().top"))
        stepping.press("next")
    expect(rules).to_contain_text("to a: ")
    assert len(places) == 1, "no rule moves the stage"
    code = stepping.widget.locator(".av-listing").bounding_box()
    rule = rules.bounding_box()
    assert code and rule and rule["y"] >= code["y"] + code["height"]
    stepping.page.set_viewport_size({**LAPTOP, "width": 700})
    expect(stepping.widget.locator(".av-said .av-formulas")).to_be_attached()


def test_where_code_has_no_room_the_line_of_the_step_is_seen_and_a_press_opens_the_rest(sized: Callable[..., Stepping]) -> None:
    stepping = sized({**LAPTOP, "width": 1083}, UNBOUND, STEP)
    code, frame = stepping.widget.locator(".av-listing"), stepping.widget.locator(".av-with-code")
    expect(frame).to_have_class("av-with-code av-code-line")
    expect(code.get_by_text("e = b * c * d")).to_be_in_viewport()
    stepping.press("code")
    expect(frame).not_to_have_class("av-with-code av-code-line")
    stepping.press("code")
    expect(code).to_be_hidden()


@pytest.mark.parametrize(("size", "detail"), [(LAPTOP, "full"), (LOW, "brief"), ({"width": 900, "height": 560}, "names")])
def test_the_most_detailed_figure_that_is_whole_is_shown_and_key_d_goes_through_them(
    sized: Callable[..., Stepping], size: dict[str, int], detail: str
) -> None:
    stepping = sized(size, PROGRAM, STEP)
    order = ["full", "brief", "names"]
    shown = [("requires_grad = True", "full"), ("grad = None", "brief"), ("AccumulateGrad", "names")]

    def now() -> str:
        text = stepping.widget.locator(".av-picture").first.text_content() or ""
        return next(name for said, name in shown if said in text)

    assert is_read_whole(stepping) and now() == detail
    for i in range(1, 4):
        press_key(stepping, "d")
        stepping.page.wait_for_timeout(100)  # the next one is there in the next task
        assert now() == order[(order.index(detail) + i) % 3]


def test_what_is_pointed_at_opens_in_full_over_its_neighbours(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LOW, PROGRAM, STEP)
    opened = stepping.widget.locator(".av-peek")
    expect(opened).not_to_contain_text("next_functions")
    stepping.widget.locator(".av-picture .node").first.hover()
    expect(opened).to_contain_text("next_functions")
    assert stepping.widget.evaluate(IS_WHOLE)
    stepping.page.mouse.move(2, 2)
    expect(opened).not_to_contain_text("next_functions")


def test_presenting_fills_the_window_with_large_letters_and_escape_ends_it(sized: Callable[..., Stepping]) -> None:
    stepping = sized(PROJECTOR, PROGRAM, STEP)
    press_key(stepping, "p")
    button = stepping.widget.locator(".av-present")
    expect(button).to_have_attribute("aria-pressed", "true")
    box = stepping.widget.bounding_box()
    assert box and (box["x"], box["y"], box["width"], box["height"]) == (0, 0, *PROJECTOR.values())
    expect(stepping.widget.locator(".av-side")).to_be_hidden()
    assert stepping.widget.evaluate(IS_WHOLE) and stepping.widget.evaluate(LETTERS) >= 18
    press_key(stepping, "n")
    stepping.wait_for_step(1)
    for kind in ("lit", "due"):
        see(stepping, kind)
    stepping.page.keyboard.press("Escape")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert stepping.widget.evaluate(LETTERS) < 18


def test_presented_on_a_small_projector_a_map_is_seen_from_side_to_side(sized: Callable[..., Stepping]) -> None:
    stepping = sized(LAPTOP, MAP, "s = av.step(loss)\ns")
    expect(stepping.widget.locator(".av-listing")).to_be_visible()
    stepping.widget.locator(".av-present").click()
    expect(stepping.widget.locator(".av-listing")).to_be_hidden()
    assert stepping.widget.evaluate(IS_AS_WIDE)


def test_presented_a_long_sentence_takes_nothing_from_a_picture_that_has_room(sized: Callable[..., Stepping]) -> None:
    program = "x = av.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * x"
    stepping = sized(PROJECTOR, program, "s = av.step(y, gradient=av.tensor([1.0, 10.0, 100.0]))\ns")
    press_key(stepping, "p")
    expect(stepping.widget.locator(".av-present")).to_have_attribute("aria-pressed", "true")
    high = stepping.widget.locator(".av-said").bounding_box()
    press_key(stepping, "End")
    stepping.wait_for_step(2)
    expect(stepping.widget.locator(".av-arrays").first).to_be_visible()
    higher = stepping.widget.locator(".av-said").bounding_box()
    assert high and higher and higher["height"] == high["height"], "room was kept for the rules"
    stepping.page.wait_for_function(f"root => ({IS_WHOLE})(root)", arg=stepping.widget.element_handle())


def test_presented_a_step_that_says_more_takes_nothing_from_the_picture(sized: Callable[..., Stepping]) -> None:
    program = """x = av.tensor(2.0, requires_grad=True)
y = av.tensor(3.0, requires_grad=True)
z = x * x * y
(gradient,) = av.autograd.grad(z, x, create_graph=True)
z.backward()"""
    stepping = sized(SMALL_PROJECTOR, program, "s = av.step(gradient)\ns")
    press_key(stepping, "p")
    press_key(stepping, "Home")
    stepping.widget.locator(".av-counter", has_text="forward 0").wait_for()
    stage, heights = stepping.widget.locator(".av-stage"), set()
    for _ in range(10):
        press_key(stepping, "PageDown")
        stepping.page.wait_for_timeout(150)
        heights.add((stage.bounding_box() or {})["height"])
    expect(stepping.widget.locator(".av-counter")).to_contain_text("6 / 6")  # presses wait in a queue
    assert len(heights) == 1


def test_presented_what_the_notebook_changes_is_said_and_takes_nothing_from_the_picture(sized: Callable[..., Stepping]) -> None:
    stepping = sized({**LAPTOP, "width": 900}, TWELVE, STEP)
    stepping.press("next")
    stepping.widget.locator(".av-present").click()
    stepping.page.wait_for_timeout(300)
    first = stepping.widget.locator(".av-stage").bounding_box()
    stepping.lab.run_code("for t in (a, b, c, d, f, g):\n    t.grad = av.tensor(7.0)")
    expect(stepping.widget.locator(".av-drift")).not_to_be_empty()
    assert stepping.widget.locator(".av-stage").bounding_box() == first
    press_key(stepping, "End")
    expect(stepping.widget.locator(".av-drift")).to_be_empty()
    assert stepping.widget.locator(".av-stage").bounding_box() == first


def test_a_pointer_that_passes_fades_nothing_and_one_that_rests_spares_what_is_called_and_next(
    sized: Callable[..., Stepping],
) -> None:
    stepping = sized(PROJECTOR, PROGRAM, STEP)
    stepping.press("next")
    stepping.wait_for_step(1)
    stepping.widget.locator('[data-at="t0"] > .outline').hover(position={"x": 20, "y": 12})
    stepping.widget.locator('.near[data-at="t0"]').wait_for()
    opacity = "([root, at]) => Number(getComputedStyle(root.querySelector(at)).opacity)"

    def seen(at: str) -> float:
        return float(stepping.page.evaluate(opacity, [stepping.widget.element_handle(), at]))

    assert seen('[data-at="t3"]') == 1
    stepping.page.wait_for_timeout(1000)
    assert seen('[data-at="t3"]') < 0.5
    assert seen(".lit") == seen(".due") == seen(".near") == 1


def test_a_picture_without_steps_is_zoomed_and_moved_as_a_stepper_is(sized: Callable[..., Stepping]) -> None:
    stepping = sized(
        LAPTOP, "x = y = av.tensor(0.5, requires_grad=True)\nfor _ in range(30): y = (y * x).sin()\ny.backward()\nav.show(y)"
    )
    expect(stepping.widget.locator(".av-next")).to_be_hidden()
    before = stepping.widget.evaluate(PICTURE)
    stepping.widget.focus()
    stepping.press("fit")
    stepping.page.wait_for_timeout(600)
    assert stepping.widget.evaluate(IS_WHOLE) and stepping.widget.evaluate(PICTURE)[2] < before[2]
    assert "0.5" in str(stepping.widget.locator('.av-picture [data-at^="next:"].label').all_text_contents())
    expect(stepping.page.locator("img[class^=av-still]")).to_be_hidden()
