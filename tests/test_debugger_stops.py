"""Where a run stops: at nodes, at numbers, at a condition, where a gradient comes."""

from __future__ import annotations

import pytest

import autograd_viz as av

from .steppers import names_of, stepper_of, three_leaves


def test_a_breakpoint_stops_before_its_node_and_run_goes_on_from_there() -> None:
    s, t = three_leaves()
    s.stop_at("c")
    stopped = s.run()
    assert stopped is not None and stopped.kind == "breakpoint" and s.step == 2 and t["a"].grad is None
    assert s.explanation == "breakpoint at MulBackward0 (c)"
    assert s.run() is None and s.is_complete and s.explanation == ""


def test_a_run_stops_where_nan_is_born_and_not_where_it_is_handed_on() -> None:
    x = av.tensor([0.0, 1.0], requires_grad=True)
    s = stepper_of((av.where(x > 0, x.sqrt(), x) * 2).sum(), {"x": x})
    s.stop_on(nan=True)
    stopped = s.run()
    assert stopped is not None and names_of(s, [stopped.node]) == ["SqrtBackward0"] and "nan" in s.trace.steps[-1].flags
    assert s.run() is None and s.is_complete


def test_a_run_stops_where_a_gradient_becomes_zero() -> None:
    x = av.tensor([-1.0, -2.0], requires_grad=True)
    s = stepper_of((x.relu() * 3).sum(), {"x": x})
    s.stop_on(zero=True)
    stopped = s.run()
    assert stopped is not None and names_of(s, [stopped.node]) == ["ReluBackward0"]


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("how", ["hook", "sum", "accumulation", "edit"])
def test_a_run_stops_where_nan_came_by_other_ways_than_a_rule(how: str) -> None:
    a = av.tensor([1.0, 4.0], requires_grad=True)
    y = a * 2
    root = (y * 1).sum()
    if how == "hook":
        y.register_hook(lambda g: g / 0)
    elif how == "sum":
        root = (y * av.tensor(3e38)).sum() + (y * av.tensor(3e38)).sum()
    elif how == "accumulation":
        a.grad, root = av.tensor([3e38, 3e38]), (a * 3e38).sum()
    s = stepper_of(root, {"a": a, "y": y})
    s.stop_on(nan=True)
    if how == "edit":
        s.next()
        s.edit(NAN)
    stopped = s.run()
    assert stopped is not None and stopped.kind in ("nan", "inf") and "became nan or inf at" in s.explanation
    node = {"hook": "MulBackward0", "sum": "MulBackward0", "accumulation": "AccumulateGrad", "edit": "MulBackward0"}[how]
    assert (names_of(s, [stopped.node]) == [node] and not s.is_complete) or how == "accumulation"


def test_a_zero_that_cancelling_or_a_hook_makes_stops_a_run_too_and_one_zero_is_not_all() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    s = stepper_of((y - y).sum(), {"x": x})
    s.stop_on(zero=True)
    assert s.run() is not None and s.explanation.startswith("a gradient became all zero at MulBackward0")
    a, z = av.tensor(2.0, requires_grad=True), av.tensor(0.0, requires_grad=True)
    s = stepper_of(a * z * 3, {"a": a, "z": z})
    s.stop_on(zero=True)
    assert s.run() is not None and s.explanation.startswith("a gradient became all zero at MulBackward0")


def test_a_condition_may_read_the_sentence() -> None:
    s, _ = three_leaves()
    s.stop_when(lambda step: "sets a.grad" in step.sentence)
    assert s.run() is not None and s.current is not None and "a.grad" in s.current.sentence


def test_a_condition_in_python_stops_a_run_and_one_that_raises_says_so() -> None:
    s, _ = three_leaves()
    s.stop_when(lambda step: step.grad_outputs[0].numbers[0] == 4.0)
    stopped = s.run()
    assert stopped is not None and (stopped.kind, s.step) == ("condition", 3)
    s, _ = three_leaves()
    s.stop_when(lambda step: 1 / 0)
    stopped = s.run()
    assert stopped is not None and stopped.kind == "condition_error" and "ZeroDivisionError" in s.explanation and s.step == 1
    s.clear_stops()
    assert s.run() is None and s.is_complete


def test_a_condition_is_asked_of_recorded_steps_too() -> None:
    s, _ = three_leaves()
    s.finish()
    s.goto(0)
    s.stop_when(lambda step: step.grad_outputs[0].numbers[0] == 4.0)
    stopped = s.run()
    assert stopped is not None and (stopped.kind, s.step) == ("condition", 3)
    s.stop_when(lambda step: 1 / 0)
    s.goto(0)
    assert s.run() is not None and s.step == 1 and "ZeroDivisionError" in s.explanation
    s.clear_stops()
    assert s.run() is None and s.is_complete


def test_a_stop_can_be_lifted() -> None:
    x = av.tensor([-1.0, -2.0], requires_grad=True)
    s = stepper_of((x.relu() * 3).sum(), {"x": x})
    s.stop_on(zero=True, nan=True)
    s.stop_on(zero=False)
    assert [stop.kind for stop in s.stops] == ["nan"] and s.run() is None and s.is_complete


def test_stops_hold_over_recorded_steps_too() -> None:
    s, _ = three_leaves()
    s.finish()
    s.goto(0)
    s.stop_at("c")
    assert s.run() is not None and s.step == 2


def test_run_to_a_node_goes_on_or_back_and_until_stops_where_a_gradient_arrives() -> None:
    s, _ = three_leaves()
    s.run_to("a")
    assert s.step == 3 and names_of(s, [s.next_node]) == ["AccumulateGrad a"]
    s.run_to("c")
    assert s.step == 2
    s.until("b")
    assert s.step == 5 and s.stopped is not None and (s.stopped.kind, s.stopped.node) == ("until", s.trace.steps[4].node)
    assert s.explanation == "a gradient reached b"
    s.until("b")
    assert s.step == 5 and s.stopped is not None and s.stopped.kind == "unreached"
    assert s.explanation == "no gradient reaches b before the end"
    s.goto(0)
    assert s.explanation == ""
    s.until("c")
    assert s.step == 3 and s.explanation == "a gradient reached c"
    s.until("d")
    assert s.is_complete and s.explanation == "no gradient reaches d before the end"
    with pytest.raises(ValueError, match=r"no tensor 'q'; it has: a, b, d, c, e"):
        s.until("q")
