"""Averaged models beside PyTorch's."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

WAYS: dict[str, Any] = {
    "mean": lambda s, model: s.AveragedModel(model),
    "mean with buffers": lambda s, model: s.AveragedModel(model, use_buffers=True),
    "ema": lambda s, model: s.AveragedModel(model, avg_fn=s.get_ema_avg_fn(0.9)),
    "ema of lists": lambda s, model: s.AveragedModel(model, multi_avg_fn=s.get_ema_multi_avg_fn(0.9)),
    "mean of lists": lambda s, model: s.AveragedModel(model, device="cpu", multi_avg_fn=s.get_swa_multi_avg_fn()),
    "own": lambda s, model: s.AveragedModel(model, avg_fn=lambda a, p, n: 0.5 * a + 0.5 * p + n),
}


def averaged(m: Any, way: str) -> tuple[Any, list[Any]]:
    swa = importlib.import_module(f"{m.__name__}.optim.swa_utils")
    m.manual_seed(0)
    model = m.nn.Sequential(m.nn.Linear(2, 3), m.nn.BatchNorm1d(3), m.nn.Linear(3, 1))
    average, batches = WAYS[way](swa, model), [m.randn(4, 2) for _ in range(4)]
    optimizer = m.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        average.update_parameters(model)
    state = {name: t.clone() for name, t in average.state_dict().items()}
    swa.update_bn([(x, 0) for x in batches], average)
    numbers = [*state.values(), *average.state_dict().values(), average.eval()(batches[0])]
    return [list(state), average.n_averaged.item(), model[1].momentum, average.module[1].momentum], numbers


@pytest.mark.parametrize("way", WAYS)
def test_an_averaged_model_is_pytorchs(way: str) -> None:
    (said, mine), (expected, theirs) = averaged(av, way), averaged(torch, way)
    assert said == expected
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"anneal_epochs": 0}, {"anneal_epochs": 3, "anneal_strategy": "linear"}])
def test_the_rate_goes_where_pytorchs_goes(options: Any) -> None:
    found = []
    for m in (av, torch):
        swa = importlib.import_module(f"{m.__name__}.optim.swa_utils")
        optimizer = m.optim.SGD([m.ones(1, requires_grad=True)], lr=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no step of the optimizer
            decay, swa_schedule = (
                m.optim.lr_scheduler.ExponentialLR(optimizer, 0.9),
                swa.SWALR(optimizer, swa_lr=0.05, **options),
            )
            rates = []
            for epoch in range(15):
                (decay if epoch < 3 else swa_schedule).step()
                rates.append(optimizer.param_groups[0]["lr"])
        found.append(rates)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


def test_refusals_are_pytorchs() -> None:
    said: list[list[str]] = []
    for m in (av, torch):
        swa, optimizer = importlib.import_module(f"{m.__name__}.optim.swa_utils"), m.optim.SGD([m.ones(1, requires_grad=True)])
        said.append([])
        for act in (
            lambda swa=swa: swa.get_ema_avg_fn(2),
            lambda swa=swa, o=optimizer: swa.SWALR(o, 0.1, anneal_strategy="x"),
            lambda swa=swa, o=optimizer: swa.SWALR(o, 0.1, anneal_epochs=-1),
        ):
            with pytest.raises(ValueError) as error:
                act()
            said[-1].append(str(error.value))
    assert said[0] == said[1]
