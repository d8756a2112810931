"""Views that are written, and what they were. (tests/core/semantics compares them with PyTorch.)"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av


def test_what_a_view_was_when_it_was_written_stays_what_it_was() -> None:
    x, w = av.ones(6, requires_grad=True), av.arange(6.0).reshape(2, 3)
    base = x * 1
    view = base.view(2, 3)
    view.mul_(w)
    view.t_()
    base.sum().backward()
    assert x.grad.tolist() == w.flatten().tolist()


def test_a_view_keeps_what_forbids_to_write_it_when_it_gets_another_shape() -> None:
    view = av.ones(2, 3, requires_grad=True).clone().unbind()[0]
    with av.no_grad():
        view.unsqueeze_(0)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        view.add_(1)


def test_a_view_that_lost_its_history_prints() -> None:
    x = av.ones(2, requires_grad=True)
    with av.no_grad():
        view = x[:1]
        view *= 2
    assert repr(view) == "tensor([2.], grad_fn=<Invalid>)"


def test_steps_in_memory_see_all_of_it_from_any_view() -> None:
    x = av.arange(6.0)
    assert x.as_strided_((2,), (1,), 3).tolist() == [3.0, 4.0]
    assert x.as_strided_((6,), (1,), 0).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert x._version == 2


@pytest.mark.parametrize(
    "change", [lambda v: v.exp_(), lambda v: av.nn.functional.relu(v, inplace=True), lambda v: v.sigmoid_()]
)
@pytest.mark.parametrize("backward", [True, False])
def test_a_changed_view_is_freed_at_once(change: Callable[..., Any], backward: bool) -> None:
    """A base whose history holds the view, and a view that holds the base, would wait for the garbage collector."""

    def changed() -> weakref.ref[av.Tensor]:
        base = av.ones(3, 3, requires_grad=True).clone()
        change(base.view(9))
        if backward:
            base.sum().backward()
        return weakref.ref(base)

    gc.disable()
    try:
        assert changed()() is None
    finally:
        gc.enable()
