"""`explain` under `watch(model)`: the last pass runs again, so that it answers as after `record`."""

from __future__ import annotations

import math
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


class Dead(nn.Module):
    """No number of its first layer passes the relu."""

    def __init__(self, shift: float = -50.0, is_cut: bool = False) -> None:
        super().__init__()
        self.first, self.last, self.unused = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(2, 2)
        self.shift, self.is_cut, self.calls = shift, is_cut, 0

    def forward(self, x: Any) -> Any:
        """A result for each row."""
        self.calls += 1
        hidden = (self.first(x) + self.shift).relu()
        return self.last(hidden.detach() if self.is_cut else hidden)


def trained(model: Dead) -> Any:
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = (model(torch.randn(8, 4)) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return optimizer


def test_the_cause_of_a_zero_gradient_is_named_with_its_line() -> None:
    model = Dead()
    with av.watch(model):
        _ = trained(model)
        before = [p.detach().clone() for p in model.parameters()], [p.grad for p in model.parameters()]
        one, all_of_it = str(av.explain(model.first.weight)), str(av.explain(model))
        assert [p.grad for p in model.parameters()] == before[1]
    assert "relu got no positive input" in one
    assert "test_explained_again.py, line 29" in one
    assert all_of_it == one
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), before[0], strict=True))


def test_the_cause_of_a_missing_gradient_is_named() -> None:
    model = Dead(0.0, is_cut=True)
    with av.watch(model):
        _ = trained(model)
        assert "detach() cut the path" in str(av.explain(model.first.weight))
        assert "no path leads to it" in str(av.explain(model.unused.weight))


def test_nothing_is_said_of_a_healthy_model_nor_of_a_gradient_that_a_later_line_took_away() -> None:
    model = Dead(0.5)
    with av.watch(model):
        optimizer = trained(model)
        assert "Nothing stands out" in str(av.explain(model.last.weight))
        optimizer.zero_grad()
        assert "detach" not in str(av.explain(model.first.weight))
        assert "relu" not in str(av.explain(model.first.weight))


@pytest.mark.parametrize(("factor", "word"), [(0.0, "is all zero"), (math.nan, "has nan")])
def test_gradients_that_the_loss_spoils_stand_out_of_a_model_though_the_cause_is_unknown(factor: float, word: str) -> None:
    model = Dead(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with av.watch(model, stop=False):
        (model(torch.ones(8, 4)) * factor).sum().backward()
        optimizer.step()
        assert word in str(av.explain(model))
        optimizer.zero_grad()
        assert "Nothing stands out" in str(av.explain(model))


def test_without_a_kept_pass_it_says_that_nothing_was_recorded() -> None:
    model = Dead()
    with av.watch(model, keep=0):
        _ = trained(model)
        calls = model.calls
        assert "call av.watch() before the pass" in str(av.explain(model.first.weight))
        assert model.calls == calls


def test_a_fault_of_the_loss_which_does_not_run_again_is_told_of_a_parameter_too() -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for squash in (True, False):
        with av.watch(model):
            scores = model(torch.randn(6, 4))
            loss = nn.functional.cross_entropy(scores.softmax(1) if squash else scores, torch.tensor([0, 1, 2] * 2))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert ("Leave softmax out" in str(av.explain(model.weight))) == squash
