"""However a pass was walked, cut and edited, it ends like one that went straight through."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.stepper import Stepper

from .programs import Program, programs
from .steppers import stepper_of

MOVES = st.lists(
    st.tuples(st.sampled_from(["next", "next", "back", "goto", "edit", "edit", "undo_edit", "finish"]), st.integers(0, 40)),
    max_size=20,
)


def started(program: Program, retained: int, keep: bool) -> tuple[Stepper, av.Tensor, list[av.Tensor]]:
    """The stepper of a program's last result that has a gradient, the root, and all tensors; some of them retain theirs."""
    _, pool = program.run(av)
    for t in pool:
        if t.grad_fn is not None and (retained := retained // 2) % 2:
            t.retain_grad()
    root = next(t for t in reversed(pool) if t.requires_grad).sum()
    return stepper_of(root, {f"x{i}": t for i, t in enumerate(pool)}, retain_graph=keep), root, pool


def walk(s: Stepper, moves: list[tuple[str, int]]) -> None:
    for move, number in moves:
        if move == "goto":
            s.goto(number % (len(s.trace.steps) + 1))
        elif move == "edit" and not s.is_complete:
            s.edit(float(number))
        elif move != "edit":
            getattr(s, move)()
    s.finish()


def repeat(s: Stepper, fresh: Stepper) -> None:
    """The same edits in a pass that goes straight through."""
    for k, step in enumerate(s.trace.steps):
        for index in step.edited:
            value = step.grad_outputs[index]
            assert value is not None
            fresh.goto(k)
            fresh.edit(np.reshape(value.numbers, value.shape), index)
    fresh.finish()


def grads(pool: list[av.Tensor]) -> list[Any]:
    return [None if t._grad is None else t._grad.tolist() for t in pool]


@given(programs(most=12), MOVES, st.integers(0, 255), st.booleans())
def test_any_walk_ends_like_a_straight_pass_with_its_edits(
    program: Program, moves: list[tuple[str, int]], retained: int, keep: bool
) -> None:
    s, root, pool = started(program, retained, keep)
    walk(s, moves)
    fresh, _, others = started(program, retained, keep)
    repeat(s, fresh)
    assert [repr(step) for step in s.trace.steps] == [repr(step) for step in fresh.trace.steps]
    assert s.trace.complete and s.is_complete and s.drift() == {}
    assert repr(grads(pool)) == repr(grads(others))
    s.goto(0)
    assert repr(CoreGraph([root], {f"x{i}": t for i, t in enumerate(pool)}).document) == repr(s.document)


@given(programs(most=12), st.integers(0, 40), st.data())
def test_a_pass_run_anew_from_the_middle_is_the_same_pass(program: Program, cut: int, data: Any) -> None:
    s, _, pool = started(program, 0, False)
    s.finish()
    steps, left = s.trace.steps, grads(pool)
    cut %= len(steps)
    s.goto(cut)
    s.edit(0.5)
    s.goto(data.draw(st.integers(cut, len(steps))))
    s.goto(cut)
    s.undo_edit()
    s.finish()
    assert [repr(a) for a in s.trace.steps] == [repr(b) for b in steps] and repr(grads(pool)) == repr(left)
    assert all(a is b for a, b in zip(s.trace.steps[:cut], steps, strict=False))


def wide() -> tuple[av.Tensor, list[av.Tensor]]:
    """Many nodes ready at once, of equal and of different rank, and a sum that waits for all of them."""
    x = [av.tensor(0.1 * i, requires_grad=True) for i in range(9)]
    shared = x[0] * 2
    return av.stack([*x, *(t.exp() * shared for t in x), shared]).sum(), x


def test_a_queue_of_many_is_put_back_as_it_was_from_any_step_to_any_other() -> None:
    root, x = wide()
    s = stepper_of(root, {}, retain_graph=True)
    s.finish()
    steps = s.trace.steps
    assert max(len(step.engine.queue) for step in steps) == 9 and any(step.engine.waiting for step in steps)
    for cut in (*range(len(steps) - 1, -1, -3), 0):
        s.goto(cut)
        s.edit(1.0)
        s.undo_edit()
        s.goto(cut + 5)
        s.goto(cut)
        s.edit(2.0)
        s.undo_edit()
        s.finish()
        assert s.trace.steps == steps
    assert x[0].grad is not None
