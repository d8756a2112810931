"""What is shown several times is made once, and what nobody looks at is not made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import autograd_viz as av
from autograd_viz.lessons.dry_run import dry_run_of
from autograd_viz.pictures.layout.measure import columns
from autograd_viz.pictures.render import theme_named
from autograd_viz.pictures.render.escape import element
from autograd_viz.pictures.render.writer import label_text, moves_of
from autograd_viz.sources.shared.formulas import local_jacobians
from autograd_viz.twin.core.tensor.printing import few_text


def calls(function: Callable[..., Any], during: Callable[[], Any]) -> int:
    """How often a function is called while another runs."""
    count = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is function.__code__

    sys.setprofile(look)
    try:
        during()
    finally:
        sys.setprofile(None)
    return count


def stepped(ops: int = 1) -> Any:
    """A widget that a page shows."""
    a = x = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for _ in range(ops):
        x = x.exp()
    widget = av.step((x * a).sum(), collapse=False)
    widget.catch_up()
    return widget


def test_a_large_page_and_the_picture_beside_it_are_painted_once() -> None:
    painted = []
    count = calls(element, lambda: painted.append(stepped(150)))
    (widget,) = painted
    assert count > 100
    assert calls(element, widget.still) < 20


def test_a_picture_in_another_language_or_theme_is_painted_anew() -> None:
    widget = stepped()
    state, light = widget.stepper.state, theme_named("light")
    english = widget.drawing.svg(state, light)
    assert widget.drawing.svg(state, theme_named("dark")) != english
    av.set_language("zh")
    try:
        assert widget.drawing.svg(state, light) != english
    finally:
        av.set_language("en")


def test_what_a_rule_returns_and_what_leaves_is_written_once() -> None:
    widget = stepped()
    widget.next()
    # MulBackward0: two saved tensors, what arrived, and of two inputs the result and the Jacobian
    assert calls(few_text, widget.next) == 7


def test_a_number_on_an_arrow_is_written_once_a_step() -> None:
    widget = stepped()
    widget.next()
    count = calls(label_text, widget.next)
    assert count == len(moves_of(widget.stepper.current)) == 2


def test_a_text_that_fits_is_the_last_that_is_made() -> None:
    value = av.step(av.tensor(2.0, requires_grad=True) * 3.0).stepper.document.tensors[0].value
    assert calls(columns, lambda: label_text(value)) == 1


def test_a_dry_run_makes_no_jacobians() -> None:
    a = av.tensor(2.0, requires_grad=True)
    loss = a.exp() * a
    assert calls(local_jacobians, lambda: dry_run_of(loss, None, (a,), {})) == 0
    widget = av.step(loss)
    assert calls(local_jacobians, widget.finish) == 0
    assert calls(local_jacobians, widget.catch_up) > 0
