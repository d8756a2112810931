"""Saving the steps of a pass runs it: what hooks and Functions do besides is taken back too."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

MODULES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]


def optimizing(m: Any) -> tuple[Any, Any]:
    """A weight that an optimizer in a hook changes as soon as its gradient is there, with all kinds of random numbers."""
    net = m.nn.Linear(2, 1, bias=False)
    optimizer = m.optim.SGD(net.parameters(), lr=0.1)

    def hook(p: Any) -> None:
        optimizer.step()
        optimizer.zero_grad()
        random.random(), np.random.rand(), m.rand(1)

    net.weight.register_post_accumulate_grad_hook(hook)
    return net.weight, net(m.ones(1, 2)).sum()


@pytest.mark.parametrize("suffix", ["html", "json", "gif"])
@pytest.mark.parametrize("name", MODULES)
def test_an_optimizer_in_a_hook_does_not_train_when_a_page_is_saved(name: str, suffix: str, tmp_path: Path) -> None:
    m = pytest.importorskip(name)
    weight, loss = optimizing(m)

    def now() -> list[Any]:
        states = random.getstate(), np.random.get_state()[1].tolist(), m.get_rng_state().tolist()
        return [weight.tolist(), weight._version, weight.grad, *states]

    before = now()
    for _ in range(2):
        av.save(loss, tmp_path / f"page.{suffix}")
        assert now() == before
    loss.backward()
    assert weight._version == before[1] + 1


@pytest.mark.parametrize("name", MODULES)
def test_a_grad_that_a_function_writes_itself_is_taken_back(name: str, tmp_path: Path) -> None:
    m = pytest.importorskip(name)

    class Writes(m.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.w = w
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            ctx.w.grad = m.ones(1)
            return g, None

    x, w = m.ones(1, requires_grad=True), m.zeros(1, requires_grad=True)
    av.save((Writes.apply(x, w) + w * 2).sum(), tmp_path / "page.html")
    assert (x.grad, w.grad) == (None, None)
