"""Distributions beside PyTorch's: printed, drawn from, and differentiated through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def validating() -> None:
    """PyTorch's compiler, once loaded, switches the checks of its distributions off."""
    torch.distributions.Distribution.set_default_validate_args(True)


FAMILIES: dict[str, Any] = {
    "normal": lambda m, d, x: d.Normal(x, x.exp()),
    "multivariate normal": lambda m, d, x: d.MultivariateNormal(x, scale_tril=m.diag(x.exp())),
    "uniform": lambda m, d, x: d.Uniform(x - 1, x + 1),
    "exponential": lambda m, d, x: d.Exponential(x.exp()),
    "categorical by probs": lambda m, d, x: d.Categorical(x.softmax(-1)),
    "categorical by logits": lambda m, d, x: d.Categorical(logits=x),
    "bernoulli by probs": lambda m, d, x: d.Bernoulli(x.sigmoid()),
    "bernoulli by logits": lambda m, d, x: d.Bernoulli(logits=x),
    "independent": lambda m, d, x: d.Independent(d.Normal(x, x.exp()), 1),
    "beta": lambda m, d, x: d.Beta(x.exp(), 0.7),
    "large beta": lambda m, d, x: d.Beta(x.exp() * 40, x.exp() * 30),
    "dirichlet": lambda m, d, x: d.Dirichlet(x.exp()),
}


def facts(m: Any, make: Any) -> list[Any]:
    m.manual_seed(2)
    x = m.tensor([0.1, -0.4, 0.7, 0.2], requires_grad=True)
    p = make(m, m.distributions, x)
    value = p.sample((3,))
    total = p.log_prob(value).sum() + p.entropy().sum()
    if p.has_rsample:
        total = total + p.rsample().sum()
    total.backward()
    return [repr(p), tuple(p.batch_shape), tuple(p.event_shape), value.numpy(), total.item(), x.grad.numpy()]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_pytorchs(name: str) -> None:
    mine, theirs = (facts(m, FAMILIES[name]) for m in (av, torch))
    assert mine[:3] == theirs[:3] and mine[3].dtype == theirs[3].dtype
    for a, b in zip(mine[3:], theirs[3:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3 if name == "large beta" else 1e-4, atol=1e-6)  # PyTorch's slope is a fit


@pytest.mark.parametrize(
    "name", ["normal", "exponential", "categorical by probs", "bernoulli by logits", "independent", "beta", "dirichlet"]
)
def test_divergence_is_pytorchs(name: str) -> None:
    found = []
    for m in (av, torch):
        x = m.tensor([0.1, -0.4, 0.7, 0.2], requires_grad=True)
        d = m.distributions
        d.kl_divergence(FAMILIES[name](m, d, x), FAMILIES[name](m, d, x.detach() * 2)).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "act",
    [
        lambda m, d: d.Normal(0.0, -1.0),
        lambda m, d: d.Categorical(m.tensor([-1.0, 2.0])),
        lambda m, d: d.Categorical(m.tensor([0.5, 0.5]), m.tensor([0.5, 0.5])),
        lambda m, d: d.Normal(0.0, 1.0).log_prob(m.tensor([float("nan")])),
        lambda m, d: d.Categorical(m.tensor([0.5, 0.5])).log_prob(m.tensor(2)),
        lambda m, d: d.Uniform(1.0, 0.0),
        lambda m, d: d.Beta(m.tensor([1.0, -1.0]), 2.0),
        lambda m, d: d.Beta(1.0, 2.0).log_prob(m.tensor(1.5)),
        lambda m, d: d.Dirichlet(m.tensor(2.0)),
        lambda m, d: d.Bernoulli(0.5).log_prob(m.tensor(0.3)),
    ],
)
def test_refusals_are_pytorchs(act: Any) -> None:
    said = []
    for m in (av, torch):
        with pytest.raises(Exception) as info:
            act(m, m.distributions)
        said.append((info.type.__name__, str(info.value)))
    assert said[0] == said[1]
