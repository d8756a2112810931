"""A loss in one expression is opened by its parts, each with its own code."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .test_recognised import titles

W, X, Y = (av.tensor([[1.0, 2.0], [0.5, 3.0]], requires_grad=k == 0) for k in range(3))


def shown(loss: Any) -> list[str]:
    """The pills of its map."""
    return titles(av.map(loss))[:-1]


def test_a_sum_of_terms_is_a_pill_for_each() -> None:
    pred = X @ W
    loss = ((pred - Y) ** 2).mean() + 0.1 * W.pow(2).sum()
    assert shown(loss) == ["pred = X @ W", "((pred - Y) ** 2).mean()", "0.1 * W.pow(2).sum()", "loss = … + …"]


def test_what_a_call_takes_is_shown_apart() -> None:
    ratio = (W - X).exp()
    loss = -(av.minimum(ratio * Y, ratio.clamp(0.8, 1.2) * Y)).mean()
    parts = ["ratio * Y", "ratio.clamp(0.8, 1.2) * Y", "loss = -(av.minimum(ratio * Y, …)).mean()"]
    assert shown(loss) == ["ratio = (W - X).exp()", *parts]


@pytest.mark.torch
def test_without_code_the_terms_of_a_sum_stand_apart() -> None:
    torch = pytest.importorskip("torch")
    model, x, y = torch.nn.Linear(2, 2), torch.ones(2, 2), torch.zeros(2, 2)
    a = model(x)
    more = {"params": model}
    loss = (a - y).pow(2).mean() + 0.1 * a.exp().sum()
    assert titles(av.map(loss, **more))[-4:-1] == ["Sub, Pow, Mean", "Exp, Sum", "Mul, Add"]
    whole = av.map(((a - y).pow(2).exp().sin() + a.exp()).sum(), **more)  # no numbers
    assert titles(whole)[-2] == "Sub, Pow, Exp, Sin, Add, Sum"


def test_a_short_line_stays_whole() -> None:
    loss = (W * X - Y).exp().sum()
    assert shown(loss) == ["loss = (W * X - Y).exp().sum()"]


def test_a_long_chain_of_one_way_stays_whole() -> None:
    loss = (W * X).exp().log().tanh().sin().cos().sum()
    assert shown(loss) == ["loss = (W * X).exp().log().tanh().sin().cos().sum()"]


def test_ops_that_are_in_no_order_stay_together() -> None:
    """The parts of a generator run in turns."""
    loss = sum((W * k).exp() + (W - k).tanh() for k in range(3)).sum()
    assert shown(loss)[-1].startswith("loss")


def test_numbers_add_up_over_the_pills() -> None:
    pred = X @ W
    loss = ((pred - Y) ** 2).mean() + 0.1 * W.pow(2).sum()
    m = av.map(loss)
    plan = m.drawing.plan
    assert sum(len(plan.members[c.id]) for c in plan.root.items if c.id in plan.members) == len(plan.document.nodes)
