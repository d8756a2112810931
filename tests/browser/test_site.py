"""The playground in Chromium, without a network but for this machine: one start of Python for all tests."""

from __future__ import annotations

import base64
import contextlib
import re
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from autograd_viz.errors import AutogradVizError
from autograd_viz.site.build import build
from autograd_viz.site.libraries import PACKAGES, from_npm, pyodide_packages
from autograd_viz.site.links import fragment
from autograd_viz.site.serve import server

from ..test_foreign import PRINTED, PROGRAMS, numbers
from .pyodide import packages

pytestmark = pytest.mark.browser
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
WAIT = 90_000  # ms: Python starts once, and the machine may be busy
# programs that reach for what is outside of the worker, and what they find
HOSTILE = {
    "js.document": "AttributeError",
    "js.parent": "AttributeError",
    "js.localStorage": "AttributeError",
    "js.indexedDB": "AttributeError",
    "js.caches": "AttributeError",
    "js.BroadcastChannel": "AttributeError",
    "js.Worker": "AttributeError",  # another would have all that this one lacks
    "js.SharedWorker": "AttributeError",
    "js.navigator.storage": "AttributeError",
    "js.navigator.serviceWorker": "AttributeError",
    "js.eval('1')": "JsException",
    "js.Function.new('return 1')": "JsException",
    "__import__('pyodide').code.run_js('1')": "JsException",
    "js.importScripts('https://example.com/x.js')": "JsException",
    "js.importScripts('data:text/javascript,1')": "JsException",
    "send('https://example.com/')": "JsException",
    "__import__('subprocess').run(['ls'])": "OSError",
    "__import__('socket').create_connection(('example.com', 80))": "BlockingIOError",
    "__import__('threading').Thread(target=print).start()": "RuntimeError",
    "[__import__('numpy').empty(2**30, 'u1') for _ in range(9)]": "MemoryError",  # zeros would be written for ten seconds
    "input()": "EOFError",
    "(lambda f: f(f))(lambda f: f(f))": "RecursionError",
}
TRY = """
import js

def send(url):
    request = js.XMLHttpRequest.new()
    request.open("GET", url, False)
    request.send()
    return True

def try_(what):
    try:
        print(eval(what) and "reached")
    except BaseException as e:
        print(type(e).__name__)
"""
# what Python cannot see fail, and what claims to be the page's own messages
FORGED = """
import js, pyodide.ffi

MARKUP = "<img src='https://example.com/x' onerror='top.hit = 1'><script>top.hit = 1; fetch('https://example.com/')</script>"

def tell(**message):
    js.postMessage(pyodide.ffi.to_js(message, dict_converter=js.Object.fromEntries))

js.fetch("https://example.com/")
js.EventSource.new("https://example.com/")
tell(kind="__proto__")
tell(kind="printed", text=MARKUP)
shown = [{"kind": kind, "page": MARKUP} for kind in ("svg", "picture")]
tell(kind="ran", result={"shown": shown, "error": None, "said": MARKUP})
globals()[MARKUP] = js_name = __import__("torch").tensor(2.0, requires_grad=True)
print(js_name * 3)
raise ValueError(MARKUP)
"""
KEPT = "marker = 1\n"
SQUARE = "import torch\n\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\nprint(x.grad)\n"


def packed(program: bytes) -> str:
    """A link as others may make it: of bytes that are no text, or of very many."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return "code=" + base64.urlsafe_b64encode(packer.compress(program) + packer.flush()).decode().rstrip("=")


# what each link opens, its program or the first example, and what the page says then
EXAMPLE, DAMAGED, RAN = "e = c * d", "The link is damaged.", "Ran in"
LINKS = {
    "code=%%%": (EXAMPLE, DAMAGED),
    fragment(KEPT) + "&step=1e9": (KEPT, RAN),
    "code=AAAA": (EXAMPLE, DAMAGED),
    "code=%00%00": (EXAMPLE, DAMAGED),
    "code=<script>top.hit=1</script>": (EXAMPLE, DAMAGED),
    "code=javascript:top.hit=1": (EXAMPLE, DAMAGED),
    fragment("nul = '\0'\n"): ("nul =", "The program raised an error."),
    packed(b"\xff\xfe"): (EXAMPLE, DAMAGED),
    fragment(KEPT) + "&step=-99999999999999999999": (KEPT, RAN),
    packed(b"#" * 10**8): (EXAMPLE, DAMAGED),
    fragment(KEPT) + "&step=NaN&lang=<script>&embed=javascript:1": (KEPT, RAN),
    "code=" + "A" * 10**6: (EXAMPLE, DAMAGED),
    fragment(KEPT)[:-4]: (EXAMPLE, DAMAGED),
    "example=__proto__": (EXAMPLE, RAN),
    "example=%3Cimg%20src=x%20onerror=top.hit=1%3E&step=constructor": (EXAMPLE, RAN),
}


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    with server(folder) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/"
        serving.shutdown()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("site")
    build(out, str(packages()), NOTEBOOKS)
    with served(out) as address:
        yield address


@contextlib.contextmanager
def opened(browser: Any, *addresses: str) -> Iterator[Any]:
    """A page that asks these addresses alone."""
    inside = (*addresses, "blob:", "data:", "about:")
    context = browser.new_context(viewport={"width": 1366, "height": 768}, locale="en")
    page = context.new_page()
    outside: list[str] = []
    page.on("request", lambda r: None if r.url.startswith(inside) else outside.append(r.url))
    page.on("requestfailed", lambda r: outside.remove(r.url) if r.failure == "csp" else None)  # the policy has kept it in
    yield page
    context.close()
    assert not outside


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Iterator[Any]:
    """The playground as a link opens it: with its program, at its step."""
    with opened(browser, address) as page:
        page.goto(f"{address}#{fragment(SQUARE)}&step=1")
        expect(page.frame_locator("#result iframe").locator(".av-counter")).to_have_text("1 / 2", timeout=WAIT)
        yield page
        assert page.evaluate("window.hit") is None  # what programs and links would set


def run(page: Any, program: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(program)
    page.keyboard.press("Control+Enter")


def test_a_program_that_imports_torch_is_stepped(page: Any) -> None:
    run(page, SQUARE)
    expect(page.locator("#printed")).to_have_text("tensor(6.)\n")
    frame = page.frame_locator("#result iframe")
    frame.locator(".av-next").click()
    expect(frame.locator(".av-counter")).to_have_text("1 / 2")
    page.context.grant_permissions(["clipboard-write"])  # a browser with a window gives it to who clicks
    page.locator("#share").click()
    expect(page.locator("#status")).to_have_text("Link copied.")
    assert page.url.partition("#")[2] == f"{fragment(SQUARE)}&step=1"


def test_a_sum_of_two_products_is_drawn_with_its_numbers(page: Any) -> None:
    run(page, "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x + 2 * x\ny.backward()\n")
    expect(page.frame_locator("#result iframe").locator("svg text", has_text="x = 3.0").first).to_be_visible()


def test_integers_are_those_of_pytorch(page: Any) -> None:
    run(page, "import torch\nx = torch.tensor([2, 1])\nprint(x.dtype, x.argmax().dtype, x.sort().indices.dtype)\n")
    expect(page.locator("#printed")).to_have_text("torch.int64 torch.int64 torch.int64\n")


def test_an_error_stands_under_its_line(page: Any) -> None:
    run(page, "import torch\nx = torch.ones(2, 3)\nx @ x\n")
    expect(page.locator(".av-error")).to_contain_text("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    expect(page.locator("#status")).to_have_text("The program raised an error in line 3.")


def test_what_is_typed_over_a_selection_is_plain_text(page: Any) -> None:
    """With the selection's style as an attribute the page's policy would refuse it, and the console would say so."""
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if "Content Security Policy" in message.text else None)
    run(page, "import torch\n")
    page.locator(".cm-content").click()
    for typed in ("import torch", "x"):
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
    expect(page.locator(".cm-content")).to_have_text("x")
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).to_have_text("import torch")
    assert not refused


def test_what_is_printed_ends_somewhere(page: Any) -> None:
    run(page, "for i in range(100_000):\n    print(i)\n")
    expect(page.locator("#printed")).to_contain_text("has printed more than 100,000 letters")


def test_hostile_programs_reach_nothing(page: Any) -> None:
    tried = "\n".join(f"try_({what!r})" for what in HOSTILE)
    run(page, f"{TRY}{tried}\n")
    expect(page.locator("#status")).to_contain_text("Ran", timeout=WAIT)
    found = page.locator("#printed").text_content().splitlines()
    assert dict(zip(HOSTILE, found, strict=True)) == HOSTILE
    run(page, FORGED)
    expect(page.locator(".av-error")).to_contain_text("ValueError: <img")
    expect(page.locator("#printed")).to_contain_text("tensor(6., grad_fn=<MulBackward0>)")
    run(page, "import torch\nx = torch.zeros(2**29)\n")
    expect(page.locator(".av-error")).to_contain_text("A page has less memory than a computer.")


def test_hostile_links_open_a_program_or_the_first_example(page: Any) -> None:
    for link, (program, said) in LINKS.items():
        page.evaluate("(hash) => { location.hash = hash; }", link)
        expect(page.locator(".cm-content")).to_contain_text(program.strip())
        expect(page.locator("#status")).to_contain_text(said)


def test_programs_of_others_print_pytorchs_numbers(page: Any) -> None:
    for name in ("attention", "convolution", "xor_with_adam"):
        run(page, PROGRAMS[name])
        expect(page.locator("#printed")).to_contain_text(PRINTED[name].split()[-1])
        printed = numbers(page.locator("#printed").text_content())
        assert printed == pytest.approx(numbers(PRINTED[name]), rel=1e-5, abs=1e-6), name
        expect(page.frame_locator("#result iframe").locator(".av-counter")).to_contain_text("0 / ")


def test_the_page_of_memory_has_its_style(page: Any) -> None:
    run(page, "import torch, autograd_viz as av\nx = torch.ones(4, 3, requires_grad=True)\nav.memory((x * 2).relu().sum())\n")
    body = page.frame_locator("#result iframe").locator("body", has_text="48 B for 1 saved tensor")
    expect(body).to_have_css("max-width", "960px")


def test_an_endless_loop_is_stopped(page: Any) -> None:
    run(page, "while True:\n    pass\n")
    expect(page.locator("#status")).to_have_text("Running …")
    page.locator("#stop").click()
    expect(page.locator("#status")).to_contain_text("Stopped.")
    expect(page.locator("#result iframe")).to_have_count(0)
    page.locator("#examples").select_option("mlp")
    expect(page.locator("#status")).to_contain_text("Ran", timeout=WAIT)


def test_the_playground_stands_in_a_page_of_another_origin(browser: Any, address: str, tmp_path: Path) -> None:
    host = f"""<!doctype html><html lang="zh"><script type="module" src="{address}embed.js"></script>
        <autograd-viz height="500"><pre>
          import torch
          x = torch.tensor(3.0, requires_grad=True)
          if x &lt; 4:
              (x * x).backward()
        </pre></autograd-viz>"""
    (tmp_path / "index.html").write_text(host, encoding="utf-8")
    with served(tmp_path) as other, opened(browser, address, other) as page:
        page.goto(other)
        frame = page.frame_locator("autograd-viz iframe")
        expect(frame.locator("#run")).to_have_text("运行")
        stepper = frame.frame_locator("#result iframe")
        stepper.locator(".av-next").click(timeout=WAIT)
        expect(stepper.locator(".av-counter")).to_have_text("1 / 2")


def run_cell(page: Any, found: str, code: str = "") -> Any:
    """Run the first cell with a text, with other code if there is some, and wait for its end. Return the cell."""
    page.locator(".jp-CodeCell", has_text=found).first.wait_for()
    texts = page.locator(".jp-CodeCell").all_text_contents()
    cell = page.locator(".jp-CodeCell").nth(next(i for i, text in enumerate(texts) if found in text))
    text, before = cell.locator(".cm-content"), cell.locator(".jp-InputPrompt").text_content()
    text.click(timeout=WAIT)  # another cell's, if outputs that come move this one
    while "jp-mod-active" not in str(cell.get_attribute("class")):
        text.click()
    if code:
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(code)
    page.keyboard.press("Control+Enter")
    prompt = cell.locator(".jp-InputPrompt")
    expect(prompt).not_to_have_text(before, timeout=WAIT)
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=WAIT)
    return cell


def test_a_notebook_steps_in_jupyterlite(browser: Any, address: str) -> None:
    with opened(browser, address) as page:
        page.goto(f"{address}lite/lab/index.html?path=01_one_multiplication.ipynb")
        expect(page.locator(".jp-OutputArea-output img")).to_be_visible(timeout=WAIT)  # the first figure, before anything runs
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(timeout=WAIT)
        for text in ("import autograd_viz as av", "a = av.tensor(2.0, requires_grad=True)", "stepper = av.step(c)"):
            cell = run_cell(page, text)
        cell.locator(".av-next").click(timeout=WAIT)
        expect(cell.locator(".av-counter")).to_have_text("1 / 2")
        cell.locator(".av-next").click()
        expect(cell.locator(".av-counter")).to_have_text("2 / 2")
        run_cell(page, "stepper = av.step(c)", "a.grad")
        expect(page.locator(".jp-OutputArea-output", has_text="tensor(3.)").last).to_be_visible()
        cell = run_cell(page, 'ask.choice("01.late_requires_grad")')
        expect(cell.locator(".av-q-root")).to_contain_text("And what does", timeout=WAIT)  # its file is there, too


def test_another_file_than_the_lock_names_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = from_npm()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "other").mkdir()
    for file in packages_named(modules):
        (tmp_path / "other" / file).write_bytes(b"another")
    with pytest.raises(AutogradVizError, match="its sha256 differs"):
        pyodide_packages(modules, str(tmp_path / "other"), tmp_path)


def packages_named(modules: Path) -> list[str]:
    import json

    lock = json.loads((modules / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    return [lock["packages"][name]["file_name"] for name in PACKAGES]
