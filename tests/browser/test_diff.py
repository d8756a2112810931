"""The page of `diff`: one cursor on both maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    """The saved page of two models that differ in one bias."""

    def net() -> Any:
        av.manual_seed(0)
        return av.nn.Sequential(av.nn.Linear(2, 3), av.nn.Tanh(), av.nn.Linear(3, 1))

    first, second = net(), net()
    with av.no_grad():
        second[2].bias.add_(0.1)
    av.save(av.diff(lambda: first(av.ones(1, 2)).sum(), lambda: second(av.ones(1, 2)).sum()), tmp_path / "diff.html")
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    errors: list[str] = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto((tmp_path / "diff.html").as_uri())
    page.wait_for_selector(".av-diff-picture svg")
    yield page
    page.close()
    assert not errors


def lit(page: Any) -> list[str]:
    return list(page.evaluate("[...document.querySelectorAll('.av-diff-lit')].map(c => c.dataset.path)"))


def test_a_card_that_is_pointed_at_or_walked_to_is_lit_on_both_sides(page: Any) -> None:
    for side in (0, 1):
        page.locator(f".side-{side} .card[data-path='2']").hover(position={"x": 200, "y": 10})
        assert lit(page) == ["2", "2"]
    page.locator(".av-diff-picture").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    assert len(lit(page)) == 2 and lit(page) != ["2", "2"]


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_barriers(page: Any, dark: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme="dark" if dark else "light")
    page.wait_for_function("dark => document.body.classList.contains('av-dark') === dark", arg=dark)
    assert Axe().run(page).response["violations"] == []
