"""Where pages and outputs stand, without those programs: strict policies, frames as high as their content, others' markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

import autograd_viz as av
from autograd_viz.lessons import ask
from autograd_viz.lessons.widget import question_page
from autograd_viz.widget.html import frame
from autograd_viz.widget.modules import joined_modules, style_sheets

from ..figures import figure

pytestmark = pytest.mark.browser
ADDRESS = "http://host.test/"
SILENT = {
    "own files": "script-src 'self'",
    "nothing": "default-src 'none'",
    "a nonce": "script-src 'nonce-abc' 'strict-dynamic'; style-src 'nonce-abc'",
}
# scripts and styles of the host alone: no blob:, no eval, no script that stands in the page
STRICT = "default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; style-src 'nonce-abc'; img-src data:"
HOST = """<!doctype html><style nonce="abc">{style}</style><div id="here"></div>
<script type="application/json" id="recording">{recording}</script><script type="module" nonce="abc" src="host_js"></script>"""
HOST_SCRIPT = """
import widget from "./front_end_js";
const kept = JSON.parse(document.getElementById("recording").textContent);
const empty = { complete: true, shown_stops: [], pins: [], error: "", error_node: "", stopped: "", overlay: {}, recorded: {} };
const [values, heard] = [{ ...empty, ...kept }, {}];
const model = {
  get: (name) => values[name],
  set(name, value) { values[name] = value; heard[`change:${name}`]?.forEach((call) => call(value)); },
  on: (event, call) => (heard[event] ??= []).push(call),
  off() {}, save_changes() {}, send() {},
};
widget.render({ model, el: document.getElementById("here") });
"""
# Colab's way: the frame begins low, and its page says how high its content is
FOLLOWS = """<!doctype html><body><script>
let height = 0;
const follow = () => {{
  const [frame] = document.querySelectorAll("iframe");
  const content = frame?.contentDocument?.documentElement?.offsetHeight ?? 0;
  if (content && content !== height) frame.style.height = `${{(height = content)}}px`;
  requestAnimationFrame(follow);
}};
follow();
</script>{frame}"""
# the markup around two outputs, each of them once
AROUND = {
    "Jupyter Book": ('<div class="cell_output">', '<div class="output text_html">{}</div>', "</div>"),
    "nbconvert, classic": (
        '<div class="output">',
        '<div class="output_area"><div class="output_html">{}</div></div>',
        "</div>",
    ),
    "JupyterLab": ('<div class="jp-OutputArea">', '<div class="jp-OutputArea-child"><div>{}</div></div>', "</div>"),
    "anybody's": ("<section>", "<article><p>{}</p></article>", "</section>"),
}
BOTH = "img, iframe"
SEEN = "(all) => all.map((e) => e.checkVisibility({ visibilityProperty: true }) && e.getBoundingClientRect().height > 40)"


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1000, "height": 700})
    yield context.new_page()
    context.close()


@pytest.fixture
def wrong(page: Any) -> Iterator[list[str]]:
    """What the page raises, and what its policy refuses."""
    found: list[str] = []
    raised, said = (lambda e: found.append(str(e))), lambda m: found.append(m.text) if m.type == "error" else None
    page.on("pageerror", raised)
    page.on("console", said)
    yield found
    page.remove_listener("pageerror", raised)
    page.remove_listener("console", said)


@pytest.fixture
def host(page: Any, wrong: list[str]) -> Iterator[Callable[..., Any]]:
    """Opens a page at an address, under a policy, with scripts beside it; a request for anything else fails."""

    def opened(html: str, policy: str = "", **scripts: str) -> Any:
        files = {"": ("text/html", html), **{name: ("text/javascript", script) for name, script in scripts.items()}}

        def answer(route: Any) -> None:
            kind, body = files[route.request.url.removeprefix(ADDRESS)]
            headers = {"Content-Security-Policy": policy} if policy else {}
            route.fulfill(body=body, headers={**headers, "Content-Type": f"{kind}; charset=utf-8"})

        page.unroute_all()
        page.route("**/*", answer)
        page.goto(ADDRESS)
        wrong.clear()  # of the page before
        return page

    yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    layer = av.nn.Linear(2, 1)
    run = av.watch(layer)
    optimizer = av.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = layer(av.ones(1, 2)).sum()
        loss.backward()
        optimizer.step()
    run.close()
    e, names = figure(3, before=True)
    things = {"stepper": e, "map": av.map(layer(av.ones(1, 2)).sum()), "run": run, "diff": av.diff(e, names["c"] * 2)}
    for name, thing in things.items():
        av.save(thing, folder / f"{name}.html")
    return {name: (folder / f"{name}.html").read_text(encoding="utf-8") for name in things}


def test_saved_pages_show_their_picture_where_scripts_are_forbidden(host: Callable[..., Any], pages: dict[str, str]) -> None:
    silenced = [(html, SILENT["nothing"]) for html in pages.values()]
    silenced += [(pages["stepper"], policy) for policy in SILENT.values()]
    for html, policy in silenced:
        page = host(html, policy)
        expect(page.locator("#av-still svg")).to_be_visible()
        assert page.locator("#av-stepper > *").count() == 0


@pytest.mark.parametrize("kind", ["stepper", "map", "run", "diff"])
def test_the_picture_of_a_saved_page_goes_when_the_page_has_drawn(
    host: Callable[..., Any], pages: dict[str, str], kind: str, wrong: list[str]
) -> None:
    page = host(pages[kind])
    page.locator("#av-stepper > *").first.wait_for()
    assert page.locator("#av-still").count() == 0 and not wrong


@pytest.fixture(scope="module")
def outputs() -> tuple[str, str]:
    """The still and the page of a stepper, as a notebook keeps them."""
    s = av.step(figure(3, before=True)[0])
    return s.still()["text/html"], s.page.html()


@pytest.mark.parametrize("around", AROUND)
def test_of_still_and_page_in_a_notebook_exactly_one_is_seen(
    host: Callable[..., Any], around: str, outputs: tuple[str, str], wrong: list[str]
) -> None:
    begin, output, end = AROUND[around]
    html = "<!doctype html><body>" + begin + "".join(map(output.format, outputs)) + end
    page = host(html)
    page.frame_locator("iframe").locator(".av-root").wait_for()
    assert page.locator(BOTH).evaluate_all(SEEN) == [False, True] and not wrong
    without_frame = html[: html.index("<iframe")] + html[html.index("</iframe>") :]  # a site that takes frames out
    assert host(without_frame).locator(BOTH).evaluate_all(SEEN) == [True]


def test_where_scripts_are_forbidden_the_frame_is_the_picture(host: Callable[..., Any], outputs: tuple[str, str]) -> None:
    page = host("<!doctype html><body>" + "".join(outputs), SILENT["own files"])
    expect(page.frame_locator("iframe").locator("#av-still svg")).to_be_visible()
    assert page.locator(BOTH).evaluate_all(SEEN) == [False, True]


def test_a_question_is_read_where_scripts_are_forbidden(host: Callable[..., Any]) -> None:
    e, names = figure(3, before=True)
    question = ask.grad(names["a"], of=e)
    html = "<!doctype html><body>" + question_page(question.question, question.asked)
    told = host(html, "script-src 'self'").frame_locator("iframe").locator("#av-still")
    expect(told).to_contain_text("['a'].grad be after e.backward()?")
    frame_of = host(html).frame_locator("iframe")
    frame_of.locator(".av-q-root").wait_for()
    assert frame_of.locator("#av-still").count() == 0


def test_the_widget_is_one_module_and_needs_neither_blob_nor_eval_nor_a_script_in_the_page(
    host: Callable[..., Any], wrong: list[str]
) -> None:
    s = av.step(figure(3, before=True)[0])
    s.finish()
    recording = {"picture": s.picture, "frames": s.frames, "step": 0}
    html = HOST.format(style=style_sheets(), recording=json.dumps(recording).replace("<", "\\u003c"))
    front_end = joined_modules()
    assert not re.search(r"^import ", front_end, re.MULTILINE)
    page = host(html, STRICT, host_js=HOST_SCRIPT, front_end_js=front_end)
    page.locator(".av-root").wait_for()
    for step in (1, 2, 3):
        page.locator(".av-next").click()
        expect(page.locator(".av-counter")).to_have_text(f"{step} / 5")
    assert not wrong


def test_a_frame_as_high_as_its_content_shows_the_whole_stage_and_stops_growing(
    host: Callable[..., Any], pages: dict[str, str]
) -> None:
    low = frame(pages["stepper"], 200).replace("allow-scripts", "allow-scripts allow-same-origin")
    page = host(FOLLOWS.format(frame=low))
    inside = page.frame_locator("iframe")
    inside.locator(".av-root").wait_for()
    page.wait_for_timeout(700)  # the still would have appeared
    first = page.locator("iframe").bounding_box()["height"]
    page.wait_for_timeout(300)
    assert page.locator("iframe").bounding_box()["height"] == first
    assert inside.locator(".av-stage").bounding_box()["height"] > 280  # where it followed the frame, it stayed at 200
