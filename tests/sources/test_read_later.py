"""A step that is read long after it ran tells what ran then, whatever has been changed since."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import autograd_viz as av
from autograd_viz.sources.shared.stepping import step as step_file
from autograd_viz.sources.shared.values import value_of
from autograd_viz.stepper import Stepper

from ..programs import Program, programs
from ..steppers import stepper_of
from ..widget.test_once import calls


def read_at_once(s: Stepper) -> str:
    """All steps, each read before the next runs."""
    while (step := s.next()) is not None:
        repr(step)
    return repr(s.trace)


def read_at_the_end(s: Stepper, leaves: list[Any]) -> str:
    """All steps, read after everything that a user can change in place has been changed."""
    s.finish()
    for leaf in leaves:
        for tensor in (leaf, leaf.grad):
            if tensor is not None and not tensor.is_sparse:
                tensor.data.fill_(77)
    return repr(s.trace)


@given(program=programs())
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_a_random_program_tells_the_same_later(program: Program) -> None:
    told = []
    for read in (lambda s, _: read_at_once(s), read_at_the_end):
        leaves, pool = program.run(av)
        if not pool[-1].requires_grad:
            return
        told.append(read(stepper_of(pool[-1].sum(), {}), leaves))
    assert told[0] == told[1]


def ten_times(g: Any) -> None:
    g.mul_(10)


def hooked(changes: bool) -> tuple[Stepper, list[Any]]:
    """A hook of the user's changes, in place, a gradient that two nodes before it have passed on."""
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    if changes:
        y.register_hook(ten_times)
    return stepper_of((y.reshape(1, 2).reshape(2) * av.tensor([1.0, 5.0])).sum(), {"x": x}), [x]


def test_what_a_hook_changes_in_place_is_read_before() -> None:
    s, leaves = hooked(changes=True)
    later = read_at_the_end(s, leaves)
    s, _ = hooked(changes=True)
    assert later == read_at_once(s) and "[10., 50.]" in later
    s.goto(3)
    passed_on = s.current.grad_inputs[0] if s.current is not None else None
    assert passed_on is not None and passed_on.numbers == (1.0, 5.0)


def test_a_first_gradient_may_be_changed_by_its_owner() -> None:
    def run(read: Any) -> str:
        x = av.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        gradient = av.tensor([[1.0, 2.0], [3.0, 4.0]])
        s = stepper_of(x.reshape(2, 2), {"x": x}, gradient=gradient)
        s.finish() if read is None else read(s)
        gradient.fill_(9)
        return repr(s.trace)

    assert run(None) == run(read_at_once)


def test_finishing_writes_no_number_and_reading_writes_each() -> None:
    x = y = av.tensor([0.5, 0.25], requires_grad=True)
    for _ in range(20):
        y = (y * x).sin()
    s = stepper_of(y.sum(), {"x": x})
    assert calls(value_of, s.finish) == 0
    assert calls(value_of, lambda: s.trace.steps[0].sentence) > 0
    assert calls(value_of, lambda: s.trace.steps[0].sentence) == 0


def test_when_too_much_is_kept_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_file, "MOST", 10_000)
    x = y = av.tensor(np.ones(1000), requires_grad=True)
    for _ in range(50):
        y = y.sin()
    s = stepper_of(y.sum(), {"x": x})
    assert calls(value_of, s.finish) > 0


def test_a_step_of_a_pass_that_went_another_way_still_tells_what_ran() -> None:
    def run(read: Any) -> list[str]:
        a = av.tensor(2.0, requires_grad=True)
        s = stepper_of((a * a).exp() * a, {"a": a})
        s.finish()
        old = s.trace
        if read:
            repr(old)
        s.goto(1)
        s.edit(100.0)
        s.finish()
        return [repr(old), repr(s.trace)]

    assert run(True) == run(False)


def test_a_wide_queue_is_taken_back_node_by_node() -> None:
    """More nodes are ready than a snapshot copies."""
    leaves = [av.tensor(float(i), requires_grad=True) for i in range(150)]
    s = stepper_of(av.stack([x.sin() if i % 3 else x * 2 for i, x in enumerate(leaves)]).sum(), {})
    s.finish()
    order, engines = [step.node for step in s.trace.steps], [step.engine for step in s.trace.steps]
    for begin in (120, 60, 3, 2):
        s.goto(begin)
        s.edit(2.0)
        s.undo_edit()
        s.finish()
        assert [step.node for step in s.trace.steps] == order
        assert [step.engine for step in s.trace.steps] == engines
