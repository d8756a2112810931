"""The playground in Chromium, without a network but for this machine: one start of Python for all tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from autograd_viz.errors import AutogradVizError
from autograd_viz.site.build import build
from autograd_viz.site.libraries import PACKAGES, from_npm, pyodide_packages
from autograd_viz.site.serve import server

from .pyodide import packages

pytestmark = pytest.mark.browser
WAIT = 90_000  # ms: Python starts once, and the machine may be busy
# programs that reach for what is outside of the worker, and what they find
HOSTILE = {
    "js.document": "AttributeError",
    "js.parent": "AttributeError",
    "js.localStorage": "AttributeError",
    "js.indexedDB": "AttributeError",
    "js.caches": "AttributeError",
    "js.BroadcastChannel": "AttributeError",
    "js.eval('1')": "JsException",
    "js.Function.new('return 1')": "JsException",
    "js.importScripts('https://example.com/x.js')": "JsException",
    "send('https://example.com/')": "JsException",
    "__import__('subprocess').run(['ls'])": "OSError",
    "__import__('socket').create_connection(('example.com', 80))": "BlockingIOError",
    "__import__('threading').Thread(target=print).start()": "RuntimeError",
    "[bytearray(2**30) for _ in range(9)]": "MemoryError",
    "input()": "OSError",
    "(lambda f: f(f))(lambda f: f(f))": "RecursionError",
}


TRY = """
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


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("site")
    build(out, str(packages()))
    with server(out) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/"
        serving.shutdown()


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1366, "height": 768}, locale="en")
    page = context.new_page()
    outside: list[str] = []
    page.on("request", lambda r: outside.append(r.url) if not r.url.startswith((address, "blob:", "data:", "about:")) else None)
    page.on("requestfailed", lambda r: outside.remove(r.url) if r.failure == "csp" else None)  # the policy has kept it in
    page.goto(address)
    expect(page.locator("#status")).to_contain_text("Ran", timeout=WAIT)
    yield page
    context.close()
    assert not outside


def run(page: Any, program: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(program)
    page.keyboard.press("Control+Enter")


def test_a_program_that_imports_torch_is_stepped(page: Any) -> None:
    run(page, "import torch\n\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\nprint(x.grad)\n")
    expect(page.locator("#printed")).to_have_text("tensor(6.)\n")
    frame = page.frame_locator("#result iframe")
    frame.locator(".av-next").click()
    expect(frame.locator(".av-counter")).to_have_text("1 / 2")
    page.locator("#share").click()
    expect(page.locator("#status")).to_have_text("Link copied.")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(frame.locator(".av-counter")).to_have_text("1 / 2", timeout=WAIT)


def test_integers_are_those_of_pytorch(page: Any) -> None:
    run(page, "import torch\nx = torch.tensor([2, 1])\nprint(x.dtype, x.argmax().dtype, x.sort().indices.dtype)\n")
    expect(page.locator("#printed")).to_have_text("torch.int64 torch.int64 torch.int64\n")


def test_an_error_stands_under_its_line(page: Any) -> None:
    run(page, "import torch\nx = torch.ones(2, 3)\nx @ x\n")
    expect(page.locator(".av-error")).to_contain_text("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    expect(page.locator("#status")).to_have_text("The program raised an error in line 3.")


def test_what_is_printed_ends_somewhere(page: Any) -> None:
    run(page, "for i in range(100_000):\n    print(i)\n")
    expect(page.locator("#printed")).to_contain_text("has printed more than 100,000 letters")


def test_hostile_programs_reach_nothing(page: Any) -> None:
    tried = "\n".join(f"try_({what!r})" for what in HOSTILE)
    run(page, f"import js\n{TRY}{tried}\n")
    expect(page.locator("#status")).to_contain_text("Ran", timeout=WAIT)
    found = page.locator("#printed").text_content().splitlines()
    assert dict(zip(HOSTILE, found, strict=True)) == HOSTILE


@pytest.mark.parametrize("link", ["#code=%%%", "#code=AAAA", "#code=&step=1e9", "#example=__proto__", "#step=NaN"])
def test_a_damaged_link_opens_an_example(page: Any, address: str, link: str) -> None:
    page.evaluate("(hash) => { location.hash = hash; }", link)
    expect(page.locator(".cm-content")).to_contain_text("e = c * d")


def test_an_endless_loop_is_stopped(page: Any) -> None:
    run(page, "while True:\n    pass\n")
    expect(page.locator("#status")).to_have_text("Running …")
    page.locator("#stop").click()
    expect(page.locator("#status")).to_contain_text("Stopped.")
    page.locator("#examples").select_option("mlp")
    expect(page.locator("#status")).to_contain_text("Ran", timeout=WAIT)


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
