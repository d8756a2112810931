"""Parametrizations, weight norm, spectral norm beside PyTorch's: names, values, gradients, and the way back."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

LAYERS: dict[str, Any] = {
    "linear": lambda m: (m.nn.Linear(3, 2), m.randn(4, 3)),
    "conv": lambda m: (m.nn.Conv2d(2, 3, 2), m.randn(1, 2, 4, 4)),
    "transposed": lambda m: (m.nn.ConvTranspose1d(2, 3, 2), m.randn(1, 2, 5)),
}
WAYS: dict[str, Callable[..., Any]] = {
    "weight_norm": lambda m, layer: m.nn.utils.parametrizations.weight_norm(layer),
    "weight_norm of all": lambda m, layer: m.nn.utils.parametrizations.weight_norm(layer, dim=None),
    "weight_norm of columns": lambda m, layer: m.nn.utils.parametrizations.weight_norm(layer, dim=1),
    "spectral_norm": lambda m, layer: m.nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=2),
    "spectral_norm of a bias": lambda m, layer: m.nn.utils.parametrizations.spectral_norm(layer, "bias", dim=0),
    "old weight_norm": lambda m, layer: m.nn.utils.weight_norm(layer),
    "old weight_norm of all": lambda m, layer: m.nn.utils.weight_norm(layer, dim=None),
    "old spectral_norm": lambda m, layer: m.nn.utils.spectral_norm(layer),
}


def arrays(tensors: Any) -> list[Any]:
    return [None if t is None else t.detach().numpy() for t in tensors]


def facts(m: Any, kind: str, way: str) -> tuple[list[Any], list[Any]]:
    m.manual_seed(3)
    layer, x = LAYERS[kind](m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        layer = WAYS[way](m, layer)
    texts, numbers = [repr(layer), list(layer.state_dict())], [layer.weight]
    for train in (True, True, False):
        layer.train(train)
        out = layer(x)
        numbers += [out, layer.weight, *layer.state_dict().values()]
    out.square().sum().backward()
    numbers += [p.grad for p in layer.parameters()]
    twin = LAYERS[kind](m)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        twin = WAYS[way](m, twin)
    texts.append(repr(twin.load_state_dict(layer.state_dict())))
    numbers.append(twin.eval()(x))
    name = "bias" if "bias" in way else "weight"
    if way.startswith("old"):
        getattr(m.nn.utils, "remove_" + way.split()[1])(layer)
    else:
        texts += [m.nn.utils.parametrize.is_parametrized(layer), m.nn.utils.parametrize.is_parametrized(layer, name)]
        m.nn.utils.parametrize.remove_parametrizations(layer, name)
    texts += [repr(layer), [n for n, _ in layer.named_parameters()], type(layer).__name__]
    return texts, arrays([*numbers, layer(x), layer.weight])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", LAYERS)
def test_a_normed_weight_is_pytorchs(kind: str, way: str) -> None:
    (said, mine), (expected, theirs) = facts(av, kind, way), facts(torch, kind, way)
    assert said == expected
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def symmetric(m: Any) -> Any:
    class Symmetric(m.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).T

        def right_inverse(self, a: Any) -> Any:
            return a.triu()

    return Symmetric()


def doubled(m: Any) -> Any:
    class Doubled(m.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return x * 2

    return Doubled()


def test_own_parametrizations_run_one_after_the_other_and_take_values() -> None:
    found = []
    for m in (av, torch):
        p = m.nn.utils.parametrize
        layer = m.nn.Linear(3, 3)
        layer.weight.data = m.arange(9.0).reshape(3, 3)
        p.register_parametrization(layer, "weight", symmetric(m))
        first = layer.weight.tolist()
        layer.weight = m.ones(3, 3)
        p.register_parametrization(layer, "weight", doubled(m))
        with pytest.raises(RuntimeError) as refused:
            layer.weight = m.ones(3, 3)
        with p.cached():
            same = layer.weight is layer.weight
        twin = copy.deepcopy(layer)
        layer(m.ones(1, 3)).sum().backward()
        grads = [None if q.grad is None else q.grad.tolist() for q in layer.parameters()]
        copied = (twin.weight.tolist(), repr(twin))
        p.remove_parametrizations(layer, "weight", leave_parametrized=False)
        end = (layer.weight.tolist(), copied, type(layer).__name__, list(layer.state_dict()))
        found.append((first, same, grads, str(refused.value), end))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "act",
    [
        lambda m, p: p.register_parametrization(m.nn.Linear(1, 1), "x", doubled(m)),
        lambda m, p: p.register_parametrization(m.nn.Linear(2, 3), "weight", m.nn.Linear(2, 1)),
        lambda m, p: p.remove_parametrizations(m.nn.utils.parametrizations.weight_norm(m.nn.Linear(1, 1)), "weight", False),
        lambda m, p: m.nn.utils.parametrizations.spectral_norm(m.nn.Linear(1, 1), "x"),
        lambda m, p: setattr(
            m.nn.utils.parametrizations.weight_norm(m.nn.Linear(1, 1)), "weight", m.nn.Parameter(m.ones(1, 1))
        ),
        lambda m, p: m.nn.utils.parametrizations.spectral_norm(m.nn.Linear(1, 1), n_power_iterations=0),
        lambda m, p: m.nn.utils.remove_spectral_norm(m.nn.Linear(1, 1)),
        lambda m, p: m.nn.utils.remove_weight_norm(m.nn.Linear(1, 1)),
        lambda m, p: m.nn.utils.spectral_norm(m.nn.utils.spectral_norm(m.nn.Linear(1, 1))),
    ],
)
def test_refusals_are_pytorchs(act: Any) -> None:
    said = []
    for m in (av, torch):
        with pytest.raises((ValueError, RuntimeError, KeyError)) as error:
            act(m, m.nn.utils.parametrize)
        said.append((error.type, str(error.value)))
    assert said[0] == said[1]


def test_the_old_weight_norm_warns_in_pytorchs_words() -> None:
    said = []
    for m in (av, torch):
        with pytest.warns(FutureWarning) as caught:
            m.nn.utils.weight_norm(m.nn.Linear(1, 1))
        said.append(str(caught[0].message))
    assert said[0] == said[1]
