"""A graph read for a map: the same as the whole one, without the elements of results."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch


def bare(document: Any) -> Any:
    """Without elements and formulas."""

    def of(value: Any) -> Any:
        return value and dataclasses.replace(value, text="", numbers=(), summary=None)

    tensors = tuple(dataclasses.replace(t, value=of(t.value), grad=of(t.grad)) for t in document.tensors)
    nodes = tuple(
        dataclasses.replace(n, formulas=(), rule="", saved=tuple(dataclasses.replace(s, value=of(s.value)) for s in n.saved))
        for n in document.nodes
    )
    return dataclasses.replace(document, tensors=tensors, nodes=nodes)


def test_an_outline_has_the_same_graph_and_the_elements_of_leaves_and_root() -> None:
    torch = pytest.importorskip("torch")
    from autograd_viz.sources import anything

    torch.manual_seed(0)
    model = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    x = torch.randn(2, 4, 8)
    with av.record(model):
        loss = model(x).pow(2).mean()
    whole = anything.graph_of(loss, {"model": model, "x": x, "loss": loss}).document
    outline = anything.graph_of(loss, {"model": model, "x": x, "loss": loss}, is_outline=True).document
    assert bare(outline) == bare(whole)
    for a, b in zip(outline.tensors, whole.tensors, strict=True):
        if b.is_leaf or b.id in whole.roots:
            assert repr(a.value) == repr(b.value)  # memory that dropout has not filled yet may hold nan
    m = av.map(loss, params=model)
    figure = m.widget()
    figure.figure("linear1")
    drawn = {t["name"]: t for t in figure.picture["document"]["tensors"]}
    assert any(t["value"]["text"] for t in drawn.values() if t["grad_fn"])
