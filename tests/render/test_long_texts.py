"""Whatever the user has called things, a picture stays as wide as its boxes."""

from __future__ import annotations

import linecache
import re

import pytest

import autograd_viz as av
from autograd_viz.pictures.layout.finish import LONGEST, wrapped
from autograd_viz.pictures.layout.measure import columns, cut

LONG = {
    "latin": "a" * 5000,
    "wide": "\u7f51" * 5000,
    "accents": "e\u0301" * 5000,
    "one letter": "e" + "\u0301" * 5000,
}
texts = pytest.mark.parametrize("text", LONG.values(), ids=LONG)


def size(svg: str) -> tuple[float, int]:
    """Width in px, and the longest text that is drawn."""
    width = re.search(r' width="([\d.]+)"', svg)
    assert width is not None
    words = re.findall(r">([^<>]*)<", re.sub(r"<title>.*?</title>", "", svg, flags=re.DOTALL))
    return float(width[1]), max(map(len, words))


def check(svg: str) -> None:
    width, longest = size(svg)
    assert width < 1600 and longest < 500


@texts
@pytest.mark.parametrize("number", [False, True])
def test_the_class_of_a_function(text: str, number: bool) -> None:
    class F(av.autograd.Function):
        @staticmethod
        def forward(ctx: av.autograd.function.FunctionCtx, x: av.Tensor, y: av.Tensor | float) -> av.Tensor:
            return x * y

        @staticmethod
        def backward(ctx: av.autograd.function.FunctionCtx, grad: av.Tensor) -> tuple[av.Tensor, None]:
            return grad, None

    F.__name__ = text
    h = av.tensor(1.0, requires_grad=True)
    check(av.show(F.apply(h, 2.0 if number else h) * 2.0).svg)


@texts
def test_a_variable_and_its_line_of_code(text: str) -> None:
    source = f"{text} = av.tensor(2.0, requires_grad=True)\ny = {text} * {text}\nfigure = av.show(y)\n"
    linecache.cache["<long>"] = (len(source), None, source.splitlines(True), "<long>")
    names = {"av": av}
    exec(compile(source, "<long>", "exec"), names)
    check(names["figure"].svg)


@texts
def test_a_scope_and_a_parameter(text: str) -> None:
    h = x = av.tensor(1.0, requires_grad=True)
    for i in range(9):
        with av.scope(f"{text}{i % 3}"):
            x = (x * h).sin()
    check(av.show(x, collapse=True).svg)
    check(av.show(x, params={f"{text}.weight": h}).svg)


def test_very_many_numbers_among_the_operands() -> None:
    class F(av.autograd.Function):
        @staticmethod
        def forward(ctx: av.autograd.function.FunctionCtx, x: av.Tensor, *numbers: float) -> av.Tensor:
            return x * sum(numbers)

        @staticmethod
        def backward(ctx: av.autograd.function.FunctionCtx, grad: av.Tensor) -> tuple[av.Tensor | None, ...]:
            return grad, *[None] * 300

    check(av.show(F.apply(av.tensor(1.0, requires_grad=True), *[1.0] * 300)).svg)


@texts
def test_a_cut_text_is_a_beginning_as_long_as_there_is_room(text: str) -> None:
    shown = cut(text, 20)
    assert text.startswith(shown) and columns(shown) <= 20 and len(shown) <= 160
    assert columns(shown) == 20 or len(shown) == 160


def test_what_has_no_place_to_break_ends_a_statement() -> None:
    assert wrapped(f"x = 'start'\ny = {LONG['latin']}") == ("x = 'start'", "y =", "a" * LONGEST, "…")
