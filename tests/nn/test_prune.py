"""Pruning beside PyTorch's: masks, their combination, names, gradients, and the way back."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def every_second(m: Any, prune: Any) -> Any:
    class EverySecond(prune.BasePruningMethod):  # type: ignore[misc]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    return EverySecond


WAYS: dict[str, Any] = {
    "l1": lambda m, p, net: p.l1_unstructured(net[0], "weight", 0.4),
    "random": lambda m, p, net: p.random_unstructured(net[0], name="weight", amount=0.3),
    "rows by length": lambda m, p, net: p.ln_structured(net[0], "weight", amount=0.5, n=2, dim=0),
    "columns by largest": lambda m, p, net: p.ln_structured(net[0], "weight", amount=2, n=float("inf"), dim=-1),
    "mask": lambda m, p, net: p.custom_from_mask(net[0], "weight", m.eye(5)[:4]),
    "l1 twice": lambda m, p, net: [p.l1_unstructured(net[0], "weight", 0.4) for _ in range(2)],
    "rows, then elements": lambda m, p, net: [
        p.ln_structured(net[0], "weight", 0.5, n=1, dim=0), p.random_unstructured(net[0], "weight", 0.5)
    ],
    "elements, then rows": lambda m, p, net: [
        p.l1_unstructured(net[0], "weight", 0.5), p.ln_structured(net[0], "weight", 2, n=2, dim=1)
    ],
    "own method": lambda m, p, net: [every_second(m, p).apply(net[0], "weight") for _ in range(2)],
    "global": lambda m, p, net: p.global_unstructured([(net[0], "weight"), (net[2], "weight")], p.L1Unstructured, amount=0.3),
    "global twice": lambda m, p, net: [
        p.global_unstructured(((net[0], "weight"), (net[0], "bias")), pruning_method=p.L1Unstructured, amount=5)
        for _ in range(2)
    ],
}  # fmt: skip


def facts(m: Any, way: str) -> tuple[list[Any], list[Any]]:
    m.manual_seed(1)
    prune = importlib.import_module(f"{m.__name__}.nn.utils.prune")
    net = m.nn.Sequential(m.nn.Linear(5, 4), m.nn.ReLU(), m.nn.Linear(4, 2))
    texts = [prune.is_pruned(net)]
    WAYS[way](m, prune, net)
    texts += [prune.is_pruned(net), list(net.state_dict()), [n for n, _ in net.named_buffers()]]
    optimizer = m.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net(m.arange(10.0).reshape(2, 5)).square().sum().backward()
        optimizer.step()
    numbers = [net[0].weight, *net.state_dict().values(), *(p.grad for p in net.parameters())]
    prune.remove(net[0], "weight")
    texts += [[n for n, _ in net[0].named_parameters()], type(net[0].weight).__name__]
    return texts, [t.detach().numpy() for t in [*numbers, net[0].weight, net(m.ones(5))]]


@pytest.mark.parametrize("way", WAYS)
def test_pruning_is_pytorchs(way: str) -> None:
    (said, mine), (expected, theirs) = facts(av, way), facts(torch, way)
    assert said == expected
    by_name = [dict(zip(t[2], values[1:], strict=False)) for t, values in ((said, mine), (expected, theirs))]
    assert by_name[0].keys() == by_name[1].keys()
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "act",
    [
        lambda p, layer: p.l1_unstructured(layer, "weight", "many"),
        lambda p, layer: p.l1_unstructured(layer, "weight", 1.5),
        lambda p, layer: p.l1_unstructured(layer, "weight", -1),
        lambda p, layer: p.l1_unstructured(layer, "weight", 99),
        lambda p, layer: p.ln_structured(layer, "bias", 1, n=2, dim=0),
        lambda p, layer: p.remove(layer, "weight"),
    ],
)
def test_refusals_are_pytorchs(act: Any) -> None:
    said = []
    for m in (av, torch):
        layer = m.nn.Linear(2, 2)
        with pytest.raises((TypeError, ValueError)) as error:
            act(importlib.import_module(f"{m.__name__}.nn.utils.prune"), layer)
        said.append((error.type, str(error.value)))
        assert {n for n, _ in layer.named_parameters()} == {"weight", "bias"}
    assert said[0] == said[1]
