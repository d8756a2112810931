"""Chains from a leaf stand beside the op that they lead to: a picture is as wide as its program, however deep that goes."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph.model import Document
from autograd_viz.pictures.layout import Box, Geometry, layout
from autograd_viz.sources.twin.graph import CoreGraph

from ..figures import figure


def perceptron(depth: int) -> Geometry:
    """A multi-layer perceptron; its weights are leaf → T → Addmm."""
    model = av.nn.Sequential(*(m for _ in range(depth) for m in (av.nn.Linear(4, 4), av.nn.Tanh())))
    loss = model(av.ones(2, 4)).sum()
    return layout(CoreGraph([loss], {"loss": loss}).document)


def boxes_of(document: Document) -> dict[str, list[Box]]:
    """The boxes of ops and nodes by their names, top to bottom."""
    names = {x.id: x.name for all in (document.ops, document.nodes) for x in all}
    found: dict[str, list[Box]] = {}
    for box in sorted(layout(document).boxes, key=lambda b: b.y):
        found.setdefault(names.get(box.id, ""), []).append(box)
    return found


def test_a_perceptron_of_any_depth_has_one_width_and_its_area_is_linear() -> None:
    short, middle, long = perceptron(6), perceptron(12), perceptron(24)
    assert short.width == middle.width == long.width <= 1800
    assert long.height - middle.height == 2 * (middle.height - short.height)


@pytest.mark.torch
def test_twelve_recorded_layers_are_at_most_1800_wide() -> None:
    torch = pytest.importorskip("torch")
    nn: Any = torch.nn
    model = nn.Sequential(*(m for _ in range(12) for m in (nn.Linear(4, 4), nn.Tanh())))
    x = torch.ones(2, 4)
    with av.record(model):
        loss = model(x).square().mean()
    figure = av.show(loss, params=model, collapse=False)
    assert figure.svg.count("<title>AccumulateGrad") == 24
    assert float(figure.svg.partition(' width="')[2].partition('"')[0]) <= 1800


def test_each_op_of_a_chain_stands_in_the_bands_above_its_consumer_and_its_nodes_beside_it() -> None:
    h, w, b = av.ones(2, 3), av.ones(2, 3, requires_grad=True), av.ones(3, requires_grad=True)
    for _ in range(5):
        h = h.sin() if h is w else (h * w).sin()
    loss = h + b.view(1, 3).expand(2, 3)
    found = boxes_of(CoreGraph([loss], {"loss": loss}).document)
    (add,), (expand,), (view,), sines = found["Add"], found["Expand"], found["View"], found["Sin"]
    assert expand.y == sines[-1].y < add.y and view.y == found["Mul"][-1].y < expand.y
    assert view.x + view.w / 2 == expand.x + expand.w / 2
    assert sines[-1].x + sines[-1].w < expand.x
    (expanded,), (viewed,) = found["ExpandBackward0"], found["ViewBackward0"]
    assert expanded.y == found["SinBackward0"][-1].y and viewed.y == found["MulBackward0"][-1].y
    assert viewed.x > found["MulBackward0"][-1].x, "the longest way comes first"
    assert 0 < viewed.y - max(box.y for box in found["AccumulateGrad"]) < 300, "over the node that feeds it"


def test_the_longest_way_stays_in_its_column() -> None:
    h = av.ones(3, 3, requires_grad=True).exp()
    for _ in range(8):
        h = (av.ones(3, 3, requires_grad=True).t().exp() @ h).tanh()
    found = boxes_of(CoreGraph([h], {"h": h}).document)
    assert len({box.x + box.w / 2 for box in found["Tanh"]}) == 1


def test_a_weight_that_several_layers_share_has_each_of_its_chains_beside_their_layer() -> None:
    w, h = av.ones(3, 3, requires_grad=True), av.ones(3, 3)
    for _ in range(4):
        h = (h @ w.t()).tanh()
    found = boxes_of(CoreGraph([h], {"h": h, "w": w}).document)
    assert [t.y for t in found["T"][1:]] == [tanh.y for tanh in found["Tanh"][:-1]]


@pytest.mark.parametrize(
    ("number", "size"), list(enumerate([(678, 600), (1035, 625), (1168, 985), (1188, 995), (1275, 1200), (1178, 2400)], 1))
)
def test_the_six_figures_keep_their_size(number: int, size: tuple[int, int]) -> None:
    root, names = figure(number)
    g = layout(CoreGraph([root], names).document)
    assert (round(g.width), round(g.height)) == size
