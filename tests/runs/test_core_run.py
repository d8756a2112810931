"""A loop of our own is watched as one of PyTorch's."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

nn = av.nn


def made() -> tuple[Any, Any]:
    av.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 1))
    return model, av.optim.Adam(model.parameters(), lr=0.05)


def train(model: Any, optimizer: Any, steps: int, grads: list[Any] | None = None) -> list[float]:
    losses = []
    for _ in range(steps):
        x = av.randn(16, 4)
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        if grads is not None:
            grads.append([p.grad.numpy().copy() for p in model.parameters()])
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_watched_loop_computes_the_same_bits() -> None:
    model, optimizer = made()
    losses = train(model, optimizer, 5)
    model, optimizer = made()
    with av.watch(model) as run:
        assert train(model, optimizer, 5) == losses
    assert run.totals()["loss"] == pytest.approx(losses)


def test_norms_are_those_that_ran_and_kept_steps_run_again() -> None:
    model, optimizer = made()
    grads: list[Any] = []
    with av.watch(model) as run:
        run.keep(every=2)
        train(model, optimizer, 4, grads)
        state = copy.deepcopy(model.state_dict())
        with run._opened(2) as (root, gradient, leaves):
            root.backward(gradient)
            for (_, p), grad in zip(leaves.items(), grads[2], strict=True):
                assert (p.grad.numpy() == grad).all()
        assert all((model.state_dict()[k].numpy() == v.numpy()).all() for k, v in state.items())
    norms = run.history.series["norm"].spans().mean
    assert np.allclose(norms, [[np.linalg.norm(g) for g in step] for step in grads])
    assert "0" in run.map(2).svg
    assert {op.source.expression for op in run.step(2).stepper.document.ops if op.source} == {"model(x)"}


def test_nan_stops_it_before_a_weight_moves() -> None:
    model, optimizer = made()
    weight = model[0].weight.detach().numpy().copy()
    with av.watch(model), pytest.raises(av.NotFiniteError, match=r"the gradient of 0\.weight is nan"):
        (model(av.ones(2, 4)).sum() * float("nan")).backward()
        optimizer.step()
    assert (model[0].weight.detach().numpy() == weight).all()


def test_closing_gives_the_names_back() -> None:
    model, optimizer = made()
    forward = type(model).forward
    with av.watch(model) as run:
        assert type(model).forward is not forward
    train(model, optimizer, 1)
    assert type(model).forward is forward
    assert run.history.steps == 0


def test_a_parameter_that_was_zero_has_no_ratio_of_its_first_update_and_the_run_goes_on() -> None:
    layer = av.nn.Linear(2, 1)
    with av.no_grad():
        layer.bias.zero_()
    optimizer = av.optim.SGD(layer.parameters(), lr=0.1)
    with av.watch(layer) as run:
        for _ in range(2):
            optimizer.zero_grad()
            layer(av.ones(1, 2)).sum().backward()
            optimizer.step()
    assert run.history.steps == 2
    first = run.history.series["update"].spans().mean[0]
    assert np.isfinite(first).tolist() == [True, False]
