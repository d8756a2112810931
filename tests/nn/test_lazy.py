"""Lazy layers read their size off the first input, and draw their parameters then, as PyTorch's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_viz as av

from .test_layers import plain

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LAYERS = [
    ("LazyLinear(3)", (2, 4)),
    ("LazyLinear(3, bias=False)", (2, 5, 4)),
    ("LazyConv2d(4, 3, padding=1, groups=2)", (2, 6, 5, 5)),
    ("LazyConv1d(4, 3)", (6, 5)),
    ("LazyConvTranspose2d(4, 3, stride=2)", (2, 3, 4, 4)),
    ("LazyBatchNorm1d()", (4, 3)),
    ("LazyInstanceNorm2d()", (2, 3, 4, 4)),
]


@pytest.mark.parametrize(("source", "shape"), LAYERS)
@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_lazy_layer_becomes_an_ordinary_one(source: str, shape: tuple[int, ...]) -> None:
    results: list[Any] = []
    for m in (av, torch):
        m.manual_seed(0)
        layer = eval(f"nn.{source}", {"nn": m.nn})
        before, held = repr(layer), next(layer.parameters())
        out = layer(m.randn(shape))
        out.square().sum().backward()
        assert held is next(layer.parameters()) and type(held) is m.nn.Parameter
        results.append([before, repr(layer), type(layer).__name__, plain(out), *(plain(p.grad) for p in layer.parameters())])
    assert results[0][:3] == results[1][:3]
    for mine, theirs in zip(results[0][3:], results[1][3:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)
