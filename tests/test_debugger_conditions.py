"""Stops that ask something of a gradient: its norm, its sign, where it arrives, how many have come."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.stepper.stops import Stop

from .steppers import names_of, stepper_of, three_leaves

LIBRARIES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_run_stops_where_a_norm_crosses_a_limit_and_not_while_it_stays_beyond(library: str) -> None:
    module = pytest.importorskip(library)
    a = module.tensor([1.0, 1.0], requires_grad=True)
    b = a * 0.5
    c = b * 100.0
    d = c * 2.0
    s = av.step((d * 1.0).sum())
    s.stop_on(above=100)
    s.run()
    assert s.stopped == "a norm rose above 100 at MulBackward0 (c)"
    s.run()
    assert s.complete
    s.goto(0)
    s.stop_on(above=False, below=150)  # the first gradient, 1, is below it too
    said = [s.stopped for _ in range(3) if s.run() is None]
    assert said == ["a norm fell below 150 at SumBackward0 (Sum(…))", "a norm fell below 150 at MulBackward0 (b)", ""]


def test_a_run_stops_where_a_sum_or_a_grad_crosses_a_limit() -> None:
    a = av.tensor(1.0, requires_grad=True)
    y = a * 1.0
    s = stepper_of(y * 3.0 + y * 4.0, {"a": a, "y": y})
    s.stop_on(above=5)
    assert s.run() is not None and s.explanation == "a norm rose above 5 at MulBackward0 (y)"
    s.finish()
    s = stepper_of(a * 3.0, {"a": a})  # 7 is there, 3 comes
    s.stop_on(above=8)
    assert s.run() is not None and s.explanation == "a norm rose above 8 at AccumulateGrad (a)"


def test_a_run_stops_where_a_gradient_changes_its_sign_an_array_by_its_mean() -> None:
    a = av.tensor([1.0, 1.0, 1.0], requires_grad=True)
    b = a * av.tensor([-3.0, 1.0, 1.0])
    c = b * av.tensor([-3.0, 1.0, 1.0])
    s = stepper_of((c * -1.0).sum(), {"a": a, "b": b, "c": c})
    s.stop_on(sign=True)
    where = []
    while s.run() is not None:
        where.append(s.explanation)
    # 1 -> -1; then [3, -1, -1] and [-9, -1, -1] by their means, 1/3 and -11/3
    assert where == [f"a gradient changed its sign at MulBackward0 ({x})" for x in ("Mul(c, -1.0)", "c", "b")]


def test_a_run_stops_when_a_tensor_gets_its_gradient_leaf_or_not() -> None:
    s, t = three_leaves()
    s.stop_on(grad="a")
    s.stop_on(grad=t["c"])
    ran = []
    while s.run() is not None:
        ran.append((s.explanation, names_of(s, [s.trace.steps[s.step - 1].node])))
    assert ran == [("c got its gradient", ["MulBackward0"]), ("a got its gradient", ["AccumulateGrad a"])]


def test_a_run_stops_at_the_kth_gradient_that_is_sent_to_a_tensor_used_in_several_places() -> None:
    w = av.tensor(2.0, requires_grad=True)
    h = w * w
    s = stepper_of(h * w, {"w": w, "h": h})
    s.stop_on(arrival=(w, 1))
    assert s.run() is not None and (s.step, s.explanation) == (1, "gradient 1 was sent to w")
    s.goto(0)
    s.stop_on(arrival=("w", 3))
    s.clear_stops(s.stops[0])
    assert s.run() is not None and s.step == 2 and w.grad is None
    assert s.run() is None


def test_stops_that_say_no_are_refused_and_change_nothing() -> None:
    s, t = three_leaves()
    for wrong in (-1, float("nan"), float("inf"), "3", [1]):
        with pytest.raises(ValueError, match=r"stop_on\(above=\.\.\.\) takes a norm"):
            s.stop_on(above=wrong)
    for count in (0, 1.5, "2"):
        with pytest.raises(ValueError, match="takes a count from 1"):
            s.stop_on(arrival=(t["a"], count))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no tensor 'q'"):
        s.stop_on(grad="q")
    assert len(s.stops) == 0


def test_all_stops_are_listed_and_one_can_be_removed() -> None:
    a, d = av.tensor(2.0, requires_grad=True), av.tensor(4.0, requires_grad=True)
    c = a * 3.0
    s = av.step(c * d)
    s.stop_at("c")
    s.stop_on(nan=True, above=10, grad="a", arrival=("d", 1))
    s.stop_on(above=20)
    s.stop_when(len)
    assert repr(s.stops) == (
        "<Stops: Before MulBackward0 (c); A gradient is nan or inf; a gets its gradient; Gradient 1 is sent to d; "
        "A norm rises above 20; Python: len>"
    )
    s.clear_stops(s.stops[0])
    s.clear_stops(s.stops[-1])
    assert [stop["kind"] for stop in s.shown_stops] == ["nan", "grad", "arrival", "above"]
    assert s.stepper.stops.condition is None
    s.clear_stops()
    assert repr(s.stops) == "<Stops: none>" and s.shown_stops == []


def test_the_page_removes_a_condition_and_cannot_make_one() -> None:
    s = av.step(three_leaves()[1]["e"])
    s.stop_when(lambda step: True)
    shown = [*s.shown_stops]
    s.shown_stops = [{"kind": "zero"}]
    assert s.stepper.stops.condition is None and list(s.stops) == [Stop("zero")]
    s.shown_stops = shown
    assert len(s.stops) == 0


def flat(facts: Any) -> tuple[Any, ...]:
    return tuple(f and (f.norm, f.sign, f.text) for f in (*facts.sent, *facts.came, *facts.left))


@pytest.mark.torch
def test_the_core_and_pytorch_tell_the_stops_the_same() -> None:
    told = []
    for library in ("autograd_viz", "torch"):
        module = pytest.importorskip(library)
        a = module.tensor([1.0, -2.0], requires_grad=True)
        s = av.step((a * a * 3.0).sum()).stepper
        s.finish()
        told.append([flat(s.facts(k)) for k in range(len(s.recorded))])
    assert told[0] == told[1]
