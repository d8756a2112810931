"""What a press costs does not grow with the graph, and what a stepper keeps can be freed."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.stepper import Stepper
from autograd_viz.widget.frames import StepFrames

from .steppers import stepper_of


def cost(press: Callable[[], Any]) -> int:
    """How many functions, of Python and of C, a press calls."""
    count = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(look)
    try:
        press()
    finally:
        sys.setprofile(None)
    return count


def chain(nodes: int) -> av.Tensor:
    x = y = av.tensor(0.5, requires_grad=True)
    for _ in range(nodes // 2):
        y = (y * x).sin()
    return y


def presses(s: Any, stepper: Stepper) -> dict[str, int]:
    """The cost of each kind of press at the middle of a pass; in a widget the picture follows."""
    stepper.goto(len(stepper.document.nodes) // 2)
    s.next()
    here = s.stepper if s is not stepper else s
    return {
        "next": cost(s.next),
        "back": cost(s.back),
        "again": cost(s.next),
        "goto": cost(lambda: s.goto(here.step - 3)),
        "state": cost(lambda: here.state.values.get("next:n0.0")),
        "sentence": cost(lambda: here.sentence),
    }


def test_a_press_costs_the_same_in_a_large_graph() -> None:
    few, many = (presses(s, s) for s in (stepper_of(chain(n), {}) for n in (200, 4000)))
    assert all(many[press] <= few[press] + 20 for press in few)


def test_a_press_in_a_widget_costs_the_same_in_a_large_graph() -> None:
    """Both draw one group."""
    found = []
    for nodes in (200, 4000):
        widget = av.step(chain(nodes))
        found.append(presses(widget, widget.stepper))
    few, many = found
    assert all(many[press] <= few[press] + 20 for press in few)


def test_a_wide_queue_costs_no_more_than_it_is_deep() -> None:
    """Many leaves are ready at once."""

    def press(leaves: int) -> int:
        s = stepper_of(av.stack([av.tensor(1.0, requires_grad=True) for _ in range(leaves)]).sum(), {})
        s.goto(10)
        return cost(s.next)

    assert press(8000) < press(500) + 400


def test_a_state_stays_what_it_was() -> None:
    s = stepper_of(chain(20), {})
    s.goto(8)
    state = s.state
    values, called = dict(state.values), dict(state.called)
    s.finish()
    assert dict(state.values) == values and dict(state.called) == called and len(state.values) == len(values)
    assert state.values == values != s.state.values and state.called == called != s.state.called
    s.goto(4)
    s.edit(100.0)
    s.finish()
    assert dict(state.values) == values
    assert repr(state.values) == repr(values)
    with pytest.raises(KeyError):
        state.values["nothing"]


def test_a_widget_that_nobody_looks_at_makes_no_frames() -> None:
    widget = av.step(chain(100))
    made = []
    maker = StepFrames
    before, maker.frame = maker.frame, lambda self, *step: made.append(step) or before(self, *step)  # type: ignore[method-assign]
    try:
        widget.finish()
        assert made == []
        assert len(widget.frames) == len(made) == len(widget.stepper.trace.steps)
    finally:
        maker.frame = before  # type: ignore[method-assign]


def left_after_close(of_widget: bool) -> tuple[Any, Any]:
    """Something that hangs on the graph, and the stepper that went through it, closed."""
    y = chain(20)
    alive = weakref.ref(y._grad_fn)
    s: Any = av.step(y) if of_widget else stepper_of(y, {})
    s.finish()
    if of_widget:
        assert s.frames
    s.close()
    return alive, s


@pytest.mark.parametrize("of_widget", [False, True])
def test_what_is_closed_is_freed_while_its_variable_lives(of_widget: bool) -> None:
    alive, s = left_after_close(of_widget)
    gc.collect()
    assert alive() is None
    for press in (s.next, s.back, s.finish, lambda: s.goto(1)):
        with pytest.raises(RuntimeError, match=r"this stepper is closed .* call step\(\) again"):
            press()
    s.close()  # again


def test_a_closed_stepper_says_so_and_leaves_gradients() -> None:
    x = av.tensor(3.0, requires_grad=True)
    s = stepper_of(x * x, {"x": x})
    s.finish()
    s.close()
    assert repr(s) == "<Stepper, closed>" and x.grad is not None and x.grad.item() == 6.0
    with pytest.raises(RuntimeError, match="closed"):
        _ = s.state
    with pytest.raises(RuntimeError, match="closed"):
        _ = s.trace


def test_a_hook_cannot_close_the_stepper_that_calls_it() -> None:
    x = av.tensor(3.0, requires_grad=True)
    y = x * 2
    s = stepper_of(y * x, {"x": x})
    y.register_hook(lambda g: s.close())
    with pytest.raises(RuntimeError, match=r"close\(\) was called inside a step"):
        s.finish()


@pytest.mark.torch
def test_a_closed_stepper_frees_a_graph_of_pytorch() -> None:
    torch = pytest.importorskip("torch")

    class Alive:
        """Hangs on a node."""

    def run() -> tuple[Any, Any]:
        x = torch.ones(3, requires_grad=True)
        loss = (x * x).sin().sum()
        mark = loss.grad_fn.metadata["mark"] = Alive()
        s = av.step(loss)
        s.finish()
        s.close()
        return weakref.ref(mark), s

    alive, s = run()
    gc.collect()
    assert alive() is None and s.stepper is not None
