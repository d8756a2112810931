"""A saved page: opened from its file, without network, it steps to the end and breaks none of its own rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av

from ..figures import figure

pytestmark = pytest.mark.browser
HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">'


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Saves a page and opens it; nothing may be requested, refused by the policy or raised."""
    wrong: list[str] = []
    contexts = []

    def open_it(x: Any, colours: str = "light", **wishes: Any) -> Any:
        av.save(x, tmp_path / "x.html", **wishes)
        context = browser.new_context(viewport={"width": 1366, "height": 768}, offline=True, color_scheme=colours)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: wrong.append(str(e)))
        page.on("request", lambda r: wrong.append(r.url) if not r.url.endswith("/x.html") else None)
        page.goto((tmp_path / "x.html").as_uri())
        page.locator(".av-root").wait_for()
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not wrong


def test_it_steps_to_the_end_and_back(opened: Callable[..., Any]) -> None:
    e, names = figure(3, before=True)
    page = opened(e)
    assert names["a"].grad is None
    for step in range(1, 6):
        page.keyboard.press("n")
        assert page.locator(".av-counter").text_content() == f"{step} / 5"
    grad = page.locator('[data-at="t0.grad"]').first
    assert "tensor(12.)" in grad.text_content()
    assert page.locator(".av-next").get_attribute("aria-disabled") == "true"
    page.locator(".av-reset").click()
    assert "None" in grad.text_content()
    page.locator(".av-run").click()
    assert page.locator(".av-counter").text_content() == "5 / 5"


def test_its_text_is_selected_its_picture_copied_and_no_two_marks_share_a_name(opened: Callable[..., Any]) -> None:
    page = opened(figure(3, before=True)[0])
    label = page.locator(".av-picture text:visible", has_text="Mul").first
    label.hover()  # waits until the picture lies still
    box = label.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 1, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=5)
    page.mouse.up()
    assert "Mul" in page.evaluate("getSelection().toString()")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".av-copy").click()
    page.locator(".av-copied").wait_for()
    taken = "navigator.clipboard.read().then((all) => all[0].types)"
    assert page.evaluate(taken) == ["image/png"]
    page.evaluate("navigator.clipboard.writeText('')")
    page.locator(".av-copied").wait_for(state="detached")
    page.locator(".av-root").focus()
    page.keyboard.press("Control+c")
    assert "text/plain" in page.evaluate(taken), "what is selected goes first"
    page.evaluate("getSelection().removeAllRanges()")
    page.keyboard.press("Control+c")
    page.locator(".av-copied").wait_for()
    assert page.evaluate(taken) == ["image/png"]
    names = [dot.get_attribute("aria-label") for dot in page.locator(".av-dot").all()]
    assert len(names) == len(set(names)) > 2


def test_on_paper_the_whole_picture_is_as_wide_as_the_page_at_most(opened: Callable[..., Any]) -> None:
    x = av.tensor([1.0], requires_grad=True)
    for _ in range(8):
        x = (x * 2.0).sin() + x
    page = opened(av.step(x, collapse=False), detail="full")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})
    picture, stage = page.locator(".av-picture").first.bounding_box(), page.locator(".av-stage").bounding_box()
    assert picture["x"] >= 0 and picture["x"] + picture["width"] <= 700
    assert stage["height"] >= picture["height"] - 1
    assert not page.locator(".av-toolbar, .av-side, .av-minimap").locator("visible=true").count()


def test_pointing_at_an_element_of_a_product_lights_a_row_and_a_column_and_writes_their_sum(opened: Callable[..., Any]) -> None:
    rows = av.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = av.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.5]], requires_grad=True)
    h = rows @ w
    page = opened((h**2).sum())
    for _ in range(3):
        page.keyboard.press("n")
    assert page.locator(".av-formula").text_content() == "to w: rowsᵀ · (gradient of h)"
    page.locator('[data-heat="0.2"] [data-index="4"]').hover()
    lit = [page.locator(f'[data-heat="0.{i}"] .av-h-ring').count() for i in range(3)]
    gradient = [4.0, 8.0, 12.0]  # of h, column 1
    assert (lit, page.locator(".av-sum").text_content()) == ([3, 3, 1], "[1, 1] = 2.0·4.0 + 4.0·8.0 + 6.0·12.0 = 112.0")
    assert 2 * gradient[0] + 4 * gradient[1] + 6 * gradient[2] == 112.0
    page.locator('[data-heat="0.2"]').focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".av-sum").text_content().startswith("[0, 1] = 1.0·4.0 + 3.0·8.0")
    assert page.locator(".av-counter").text_content() == "3 / 4"


def test_it_has_the_colours_of_the_system_or_those_asked_for(opened: Callable[..., Any]) -> None:
    def canvas(page: Any) -> list[str]:
        colour = "e => getComputedStyle(e).backgroundColor"
        return [page.locator(where).evaluate(colour) for where in (".av-root", "body")]

    light, dark = ["rgb(255, 255, 255)"] * 2, ["rgb(15, 20, 25)"] * 2
    page = opened(figure(3, before=True)[0], colours="dark")
    assert canvas(page) == dark
    page.emulate_media(color_scheme="light")
    page.locator("body:not(.av-dark)").wait_for()
    assert canvas(page) == light
    assert canvas(opened(figure(3, before=True)[0], theme="dark")) == dark
    assert canvas(opened(figure(3, before=True)[0], colours="dark", theme="waite")) == light


def test_it_opens_where_the_stepper_stands_or_at_a_step(opened: Callable[..., Any]) -> None:
    s = av.step(figure(3, before=True)[0])
    s.goto(2)
    assert opened(s).locator(".av-counter").text_content() == "2 / 5"
    assert opened(s, step="final").locator(".av-counter").text_content() == "5 / 5"
    assert opened(s, step=-2).locator(".av-counter").text_content().startswith("forward")
    assert s.step == 2


def squared() -> Any:
    a = av.tensor(2.0, requires_grad=True)
    b = a * 3.0
    return b * b


def test_the_code_is_there_and_its_breakpoints_stop_a_run(opened: Callable[..., Any]) -> None:
    page = opened(squared())
    page.keyboard.press("n")
    listing = page.locator(".av-listing")
    assert "return b * b" in listing.locator(".av-c-has-ran").inner_text()
    made = listing.locator("li", has_text="b = a * 3.0")
    assert "b = 6.0" in made.inner_text()
    made.locator(".av-c-number").click()
    page.locator(".av-reset").click()
    page.locator(".av-run").click()
    assert page.locator(".av-counter").text_content() == "1 / 3"
    assert "next" in made.inner_text()


def test_hostile_names_are_text(opened: Callable[..., Any]) -> None:
    leaves = [av.tensor(v, requires_grad=True) for v in (2.0, 3.0)]
    page = opened(leaves[0] * leaves[1], params={HOSTILE: leaves[0], "\udc80": leaves[1]})
    page.keyboard.press("n")
    assert page.title() == f"{HOSTILE}, \ufffd, x"
    assert page.locator("img").count() == 0
    assert HOSTILE[:5] in page.locator(".av-stage").first.text_content()


def test_nothing_can_be_edited_where_nobody_runs(opened: Callable[..., Any]) -> None:
    page = opened(figure(3, before=True)[0])
    page.locator('[data-at="n1"] text').first.click()
    if not page.locator(".av-inspector").is_visible():
        page.locator(".av-panel").click()
    page.locator(".av-inspector", has_text="MulBackward0").wait_for()
    assert page.locator(".av-i-edit").count() and not page.locator(".av-i-edit").first.is_visible()


def test_it_has_a_heading_and_says_that_groups_stay_closed(opened: Callable[..., Any]) -> None:
    x = y = av.tensor(0.5, requires_grad=True)
    for _ in range(8):
        y = (y * x).sin()
    page = opened(y, collapse=True)
    assert page.locator("main h1").text_content().startswith("Backward pass stepper: x")
    said = "Groups stay closed in a saved page."
    assert said in page.locator(".av-said").inner_text()
    assert said not in opened(y, collapse=False).locator(".av-said").inner_text()


def test_it_steps_in_a_frame_of_another_page(browser: Any, tmp_path: Path) -> None:
    e, _ = figure(3, before=True)
    (tmp_path / "post.html").write_text(f"<!doctype html><p>Before</p>{av.iframe(e).html}<p>After</p>", encoding="utf-8")
    context = browser.new_context(viewport={"width": 1000, "height": 900}, offline=True)
    page = context.new_page()
    page.goto((tmp_path / "post.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".av-next").click()
    assert frame.locator(".av-counter").text_content() == "1 / 5"
    context.close()
