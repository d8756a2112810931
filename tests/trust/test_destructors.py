"""Ctrl-C while something dies: Python loses what is raised there, and a move of ours keeps it until it can be heard."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import ipywidgets
import pytest

import autograd_viz as av

from ..steppers import stepper_of
from .moments import Moments

MOMENTS = 40  # of each death
DYING = ("__del__", ".remove", "._remove", "finalize.__call__")  # ends of the names of what Python calls then


class AsItDies(Moments):
    """Ctrl-C at the k-th line that Python runs because something dies."""

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        around: FrameType | None = frame
        while around is not None and not around.f_code.co_qualname.endswith(DYING):
            around = around.f_back
        return None if around is None else self._line


class Holder:
    """What others hold on to weakly."""


class Mortal:
    """What runs when it dies is code of the user's."""

    def __init__(self, last: Callable[[], Any] = lambda: None) -> None:
        self.last = last

    def __del__(self) -> None:
        self.last()


def a_widget() -> Any:
    layout = ipywidgets.Layout()
    layout.close()
    return layout


def a_value_of_a_weak_dictionary() -> Any:
    mortal = Holder()
    mortal.others = weakref.WeakValueDictionary(a=mortal)  # type: ignore[attr-defined]
    return mortal, mortal.others  # type: ignore[attr-defined]


def a_member_of_a_weak_set() -> Any:
    mortal = Holder()
    return weakref.WeakSet([mortal]), mortal


def one_that_is_finalized() -> Any:
    mortal = Holder()
    weakref.finalize(mortal, lambda: None)
    return mortal


def one_that_makes_a_move_of_another_stepper() -> Any:
    x = av.tensor(2.0, requires_grad=True)
    return Mortal(stepper_of(x * x, {}).next)


def dying_in_a_hook(make: Callable[[], Any], at: int) -> tuple[Any, av.Tensor, AsItDies, bool]:
    """A pass in whose hook something dies, and whether Ctrl-C was heard."""
    x = av.tensor(2.0, requires_grad=True)
    y = x * 3
    held = [make()]

    def hook(_: Any) -> None:
        held.clear()
        gc.collect()

    y.register_hook(hook)
    stepper, moments = stepper_of(y * y, {"x": x}), AsItDies(at)
    return stepper, x, moments, moments.run(stepper.finish)


@pytest.mark.parametrize(
    "make",
    [
        a_widget,
        Mortal,
        a_value_of_a_weak_dictionary,
        a_member_of_a_weak_set,
        one_that_is_finalized,
        one_that_makes_a_move_of_another_stepper,
    ],
)
def test_ctrl_c_in_a_destructor_comes_after_it(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    swallowed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)
    _, _, moments, _ = dying_in_a_hook(make, 0)
    assert moments.lines
    for at in range(1, moments.lines + 1, 1 + moments.lines // MOMENTS):
        stepper, x, _, was_heard = dying_in_a_hook(make, at)
        assert was_heard and not swallowed, f"line {at}"
        stepper.finish()
        assert x.grad is not None and x.grad.item() == 36.0
        stepper.goto(0)
        assert x.grad is None


def test_a_stepper_that_is_closed_hears_ctrl_c_and_dies_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    swallowed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)

    def close(at: int) -> tuple[AsItDies, bool]:
        x = av.tensor(2.0, requires_grad=True)
        held = [av.step(x * x)]
        widget, layout = weakref.ref(held[0]), held[0].layout

        def action() -> None:
            held[0].close()
            held.clear()
            gc.collect()

        moments = AsItDies(at)
        was_heard = moments.run(action)
        held.clear()
        gc.collect()
        assert widget() is None and layout.comm is None
        return moments, was_heard

    lines = close(0)[0].lines
    for at in range(1, lines + 1):
        assert close(at)[1] and not swallowed, f"line {at} of {lines}"
    del swallowed[:]
    assert lines < 30  # of the connection to the page; none of ipywidgets' own
