"""Views that are written are freed at once. (tests/core/semantics compares what they are with PyTorch.)"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av


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
