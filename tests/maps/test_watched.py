"""The map of a model that `watch(model)` watches: its last pass, with all modules that ran."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .test_map import grad_of, words_of
from .test_recognised import titles

torch = pytest.importorskip("torch")
from torch.nn import Dropout, Linear, Module, ReLU  # noqa: E402

pytestmark = pytest.mark.torch


class Cut(Module):
    """A layer in it is detached from both sides."""

    def __init__(self) -> None:
        super().__init__()
        self.inp, self.mid, self.act, self.drop, self.out = Linear(4, 8), Linear(8, 8), ReLU(), Dropout(0.5), Linear(8, 1)

    def forward(self, x: Any) -> Any:
        h = self.inp(x)
        z = self.mid(h.detach())
        return self.out(self.drop(self.act(h)) + z.detach())


def steps(model: Any, count: int) -> Any:
    """Trains, and gives the gradients of the last pass."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(count):
        optimizer.zero_grad()
        model(torch.ones(3, 4)).mean().backward()
        optimizer.step()
    return model


def test_a_watched_model_has_all_its_modules_and_the_gradients_of_its_last_pass() -> None:
    torch.manual_seed(0)
    model = Cut()
    with av.watch(model):
        steps(model, 2)
        kept, random = [p.grad for p in model.parameters()], torch.get_rng_state()
        m = av.map(model)
        assert not m.drawing.plan.is_guessed
        assert [t for t in titles(m) if "(" not in t] == ["inp", "mid", "act", "drop", "out"]
        assert {grad_of(model.inp), grad_of(model.out)} <= {*words_of(m)}  # the same numbers, though parameters have moved
        assert all(a is b for a, b in zip(kept, (p.grad for p in model.parameters()), strict=True))
        assert torch.equal(random, torch.get_rng_state())
        assert "depth 1" in words_of(av.map(model, depth=1))[1]


def test_the_map_of_its_result_is_as_before() -> None:
    torch.manual_seed(0)
    model = Cut()
    with av.watch(model):
        steps(model, 1)
        assert av.map(model(torch.ones(3, 4)).mean(), params=model).drawing.plan.is_guessed


def test_another_model_and_one_that_has_not_run_are_told_so() -> None:
    model = Cut()
    with av.watch(model):
        for asked in (model, Cut()):
            with pytest.raises(av.NotDrawableError, match=r"map\(model\) takes the last backward pass that was kept"):
                av.map(asked)
