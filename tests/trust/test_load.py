"""Many steppers, and a long training loop that is looked at: memory is flat when they are gone."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from typing import Any

from ipywidgets import Layout

import autograd_viz as av


def steppers(count: int) -> list[Any]:
    """Widgets half way through their passes, which are not kept."""
    found = []
    for _ in range(count):
        a = av.tensor([1.0, 2.0], requires_grad=True)
        loss = (a * 2).exp().sum()
        s = av.step(loss)
        s.goto(2)
        found.append(weakref.ref(s.stepper))
        s.close()
    return found


def held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def layouts() -> int:
    gc.collect()
    return sum(issubclass(type(x), Layout) for x in gc.get_objects())


def test_steppers_that_are_closed_leave_nothing() -> None:
    steppers(5)
    others = layouts()
    tracemalloc.start()
    try:
        before = held()
        gone = steppers(20)
        one = (held() - before) / 20
    finally:
        tracemalloc.stop()
    assert not any(ref() for ref in gone)
    assert one < 20_000  # bytes: a stepper takes 130,000; what Python itself keeps varies by some thousands
    assert layouts() == others


def test_a_training_loop_that_is_shown_now_and_then_is_flat() -> None:
    def train(steps: int) -> None:
        for k in range(steps):
            loss = ((w * x - 1) ** 2).sum()
            loss.backward()
            with av.no_grad():
                w.sub_(0.01 * w.grad)
            w.grad = None
            if k % 50 == 0:
                av.show(loss)

    w, x = av.tensor([1.0, 2.0], requires_grad=True), av.tensor([1.0, 3.0])
    train(100)
    tracemalloc.start()
    try:
        before = held()
        train(400)
        more = held() - before
    finally:
        tracemalloc.stop()
    assert more < 40_000
