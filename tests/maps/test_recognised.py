"""What a person who knows the architecture looks for on a map: names, sizes, numbers that are said where they belong."""

from __future__ import annotations

import re
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.flow import ENTRANCE
from autograd_viz.pictures.maps.plan import Plan
from autograd_viz.sources.anything import graph_of
from autograd_viz.twin import nn

from .test_map import gradients_of, words_of


class Block(nn.Module):
    """A residual block."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        return x + self.second(self.first(x).tanh())


class Wrapped(nn.Module):
    """A class whose only part does the work."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))

    def forward(self, x: Any) -> Any:
        return self.layers(x)


class Language(nn.Module):
    """Parts in a dictionary, as nanoGPT has them; the head has the weight of the embedding."""

    def __init__(self) -> None:
        super().__init__()
        parts = {"wte": nn.Embedding(5, 4), "h": nn.ModuleList([Block() for _ in range(3)]), "ln": nn.LayerNorm(4)}
        self.transformer, self.wrapped, self.head = nn.ModuleDict(parts), Wrapped(), nn.Linear(4, 5, bias=False)
        self.head.weight = self.transformer["wte"].weight

    def forward(self, x: Any) -> Any:
        h = self.transformer["wte"](x)
        for block in self.transformer["h"]:
            h = block(h)
        return self.head(self.wrapped(self.transformer["ln"](h)))


def titles(m: Any) -> list[str]:
    """Of the parts of the whole."""
    plan = m.drawing.plan
    return [plan.titled(part) for part in plan.places.parts(plan.root)]


def size(m: Any) -> tuple[float, float]:
    """Width and height of a picture in px."""
    width, height = re.findall(r'^<svg[^>]* width="([\d.]+)" height="([\d.]+)"', m.svg)[0]
    return float(width), float(height)


def test_what_lists_hold_stands_in_their_place_and_a_called_module_keeps_its_own_name() -> None:
    model = Language()
    m = av.map(model(av.tensor([1, 2])).sum(), depth=1)
    found = titles(m)
    assert found[:3] == ["transformer.wte", "transformer.h.0 … transformer.h.2", "transformer.ln"]
    assert found[3:5] == ["wrapped", "head"]
    assert "· Wrapped" in words_of(m)


def test_a_list_is_opened_by_its_name() -> None:
    model = Language()
    loss = model(av.tensor([1, 2])).sum()
    said = words_of(av.map(loss, depth=1, open="transformer.h"))
    assert {"transformer.h.0", "transformer.h.1", "transformer.h.2"} <= set(said)
    assert "▾" in said
    assert said.count("first") == 3  # what each closed block says of its inside


def test_a_parameter_of_another_module_is_called_as_the_model_calls_it() -> None:
    model = Language()
    assert "transformer.wte.weight (5, 4)" in words_of(av.map(model(av.tensor([1, 2])).sum(), depth=1))


def test_turns_of_a_loop_are_titled_by_the_modules_that_change() -> None:
    layers, norm = nn.ModuleList([Block() for _ in range(3)]), nn.LayerNorm(4)
    model = nn.Module()
    model.layers, model.norm = layers, norm

    def forward(x: Any) -> Any:
        kept = []
        for layer in layers:
            x = layer(x)
            kept.append(norm(x))
        return av.stack(kept)

    model.forward = forward
    assert titles(av.map(model(av.ones(2, 4)).sum(), depth=1))[0] == "layers.0 … layers.2"


def test_turns_of_one_class_say_how_many_modules_there_are() -> None:
    class Chain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers, self.last = nn.ModuleList([nn.Linear(2 + i % 2, 3 - i % 2) for i in range(6)]), nn.LayerNorm(2)

        def forward(self, x: Any) -> Any:
            for i in range(6):
                x = self.layers[i](x)
            return self.last(x)

    model = Chain()
    loss = model(av.ones(1, 2)).sum()
    assert "· Linear × 6" in words_of(av.map(loss, depth=1))


def test_turns_without_modules_are_titled_by_all_their_ops() -> None:
    model = nn.Linear(2, 2)
    h = model(av.ones(1, 2))
    for _ in range(4):
        h = h.tanh()
        h = h * 2.0
    assert "Tanh, Mul" in titles(av.map(h.sum(), depth=1))


def test_the_first_depth_of_many_large_modules_fits_on_a_page() -> None:
    model = nn.Sequential(
        *(nn.Sequential(nn.Linear(2 + i, 3 + i), nn.LayerNorm(3 + i), nn.Linear(3 + i, 3 + i)) for i in range(14))
    )
    width, height = size(av.map(model(av.ones(1, 2)).sum()))
    assert width <= 1200
    assert height <= 1600


def test_a_deep_model_with_residual_ways_at_each_level_fits_on_a_page() -> None:
    class Deep(nn.Module):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), Deep(depth - 1) if depth else nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            a = self.a(x)
            b = self.b(a)
            return self.c(b + x) + a + x

    model = Deep(5)
    width, _ = size(av.map(model(av.ones(1, 4)).sum(), depth=1))
    assert width <= 1200


def test_a_block_whose_layers_take_all_before_them_fits_on_a_page() -> None:
    class Dense(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4 + 2 * i, 2) for i in range(24)])

        def forward(self, x: Any) -> Any:
            found = [x]
            for layer in self.layers:
                found.append(layer(av.cat(found, -1)))
            return av.cat(found, -1)

    model = nn.Sequential(nn.Linear(4, 4), Dense())
    width, _ = size(av.map(model(av.ones(1, 4)).sum(), depth=1))
    assert width <= 1200


def test_a_small_gradient_on_one_of_several_ways_is_no_remark_if_the_others_carry_it_all() -> None:
    class Join(nn.Module):
        def forward(self, a: Any, b: Any) -> Any:
            return a * 1e-4 + b

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right, self.join = nn.Linear(4, 4), nn.Linear(4, 4), Join()

        def forward(self, x: Any) -> Any:
            return self.join(self.left(x), self.right(x))

    model = Two()
    loss = model(av.ones(1, 4)).sum()
    assert "0.0002" in gradients_of(av.map(loss))
    assert not [word for word in words_of(av.map(loss)) if "÷" in word]


def test_what_is_wrong_with_a_parameter_that_is_not_written_out_is_said_on_the_card() -> None:
    model = nn.Sequential(nn.Sequential(*(nn.Linear(2 + i, 3 + i) for i in range(6))), nn.Linear(8, 1))
    last = model[0][5].weight
    last.register_hook(lambda grad: grad * float("nan"))
    assert "grad nan" in words_of(av.map(model(av.ones(1, 2)).sum(), depth=1))


def test_an_input_that_requires_grad_is_no_parameter_and_its_gradient_is_on_its_arrow() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    x = av.ones(1, 2, requires_grad=True)
    loss = model(x).sum()
    m = av.map(loss)
    loss.backward()
    assert any("13 parameters" in word for word in words_of(m))
    assert "x (1, 2)" in words_of(m)
    assert x.grad is not None
    assert f"{x.grad.norm().item():.3g}" in gradients_of(m)


def test_an_input_that_enters_later_has_its_name_on_its_own_way() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    x, target = av.ones(1, 2), av.zeros(1, 1)
    loss = (model(x) - target).square().sum()
    assert {"x (1, 2)", "target"} <= set(words_of(av.map(loss)))


def test_an_input_that_several_parts_take_has_one_lane() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    x, target = av.ones(1, 2), av.zeros(1, 1)
    h = model(x)
    h = h - target
    h = h.square()
    loss = h + target
    plan = av.map(loss).drawing.plan
    frame = plan.places.frames[plan.root.id]
    entering = {f.target: frame.lanes[f.id] for f in frame.flows if f.name == "target"}
    assert len(entering) == 2
    assert set(entering.values()) == {0}


def test_lanes_take_no_room_from_badges_at_the_first_depth() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = nn.ModuleDict({"wte": nn.Embedding(50, 40)})
            self.head = nn.Linear(40, 50, bias=False)
            self.head.weight = self.transformer["wte"].weight

        def forward(self, x: Any) -> Any:
            return self.head(self.transformer["wte"](x))

    model = Tied()
    x, weights, shift, target = av.tensor([1, 2]), av.ones(50), av.ones(50), av.ones(2, 50)
    h = model(x)
    h = h * weights
    h = h + shift
    loss = (h - target).sum()
    said = words_of(av.map(loss))
    assert {"weights", "shift", "target"} <= set(said)
    assert said.count("shared") == 2


def test_a_name_is_that_of_all_that_an_arrow_carries_or_it_is_left_out() -> None:
    class Index(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, h: Any, edges: Any) -> Any:
            return self.last(self.first(h) * edges)

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.last = Index(), nn.Linear(2, 2)

        def forward(self, h: Any, edges: Any) -> Any:
            return self.last(self.inner(h, edges))

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.convs = nn.Linear(2, 2), Outer()

        def forward(self, x: Any, edges: Any) -> Any:
            return self.convs(self.encoder(x) * edges, edges)

    model = Graph()
    x, edges = av.ones(1, 2), av.ones(2)
    plan = av.map(model(x, edges).sum()).drawing.plan
    flows = [f for frame in plan.places.frames.values() for f in frame.flows]
    assert "edges" in {f.name for f in flows}
    assert {f.name for f in flows if f.shape is None} == {""}


def test_what_an_arrow_carries_is_written_out() -> None:
    model = nn.Conv2d(3, 2, 3)
    attention_mask = av.ones(2, 3, 16, 16)
    h = model(attention_mask)
    h = h.permute(1, 0, 2, 3)
    said = words_of(av.map(h.square().sum()))
    assert "attention_mask (2, 3, 16, 16)" in said
    assert "1 rearranging" in said


def test_a_way_that_skips_parts_begins_at_the_part_it_leaves() -> None:
    model = Language()
    m = av.map(model(av.tensor([1, 2])).sum(), open="*.h.0")
    plan = m.drawing.plan
    block = plan.card("transformer.h.0")
    flow = next(f for f in plan.places.frames[block.id].flows if f.target > f.source + 1 and f.target >= 0)
    top = plan.places.ends(block, flow, plan.places.heights(m.drawing.opened)).top
    assert re.search(rf'data-at="{re.escape(flow.id)}"><path d="M[\d.]+ {top:g}V', m.svg)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_that_is_compiled_as_a_whole_has_its_modules_and_they_are_known_to_be_guessed() -> None:
    torch = pytest.importorskip("torch")  # takes seconds: the first compilation imports torch's compiler
    body = [torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)]
    model = torch.compile(torch.nn.Sequential(*body), backend="eager")
    with av.record(model):
        loss = model(torch.ones(1, 4)).square().sum()
    m = av.map(loss)
    assert titles(m)[:3] == ["0", "1", "2"]
    assert any("guessed" in word for word in words_of(m))


@pytest.mark.torch
def test_what_is_frozen_are_parameters_and_no_buffers() -> None:
    torch = pytest.importorskip("torch")
    layers = (torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4, affine=False), torch.nn.Linear(4, 4).requires_grad_(False))
    model = torch.nn.Sequential(*layers)
    with av.record(model):
        loss = model(torch.ones(3, 4)).sum()
    plan = Plan(graph_of(loss, {"model": model}).document)
    assert {c.title: plan.labels.badges(c) for c in plan.root.items if c.path} == {"0": [], "1": [], "2": ["frozen"]}


@pytest.mark.torch
def test_an_input_without_a_name_has_its_arrow_and_a_constant_of_the_model_has_none() -> None:
    torch = pytest.importorskip("torch")

    class Shifted(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, *given: Any) -> Any:
            return self.second(self.first(given[0]) + torch.ones(4)) * given[1]

    model, given = Shifted(), (torch.ones(3, 4), torch.ones(3, 4))
    with av.record(model):
        loss = model(*given).sum()
    plan = Plan(graph_of(loss, {"model": model}).document)
    frame = plan.places.frames[plan.root.id]
    titles = [part.title for part in frame.parts]
    enters = [(titles[f.target], f.name, f.shape) for f in frame.flows if f.source == ENTRANCE]
    assert enters == [("first", "input", (3, 4)), ("Mul", "", (3, 4))]


@pytest.mark.torch
def test_a_card_says_that_it_does_not_count_parameters_in_a_reentrant_checkpoint() -> None:
    torch = pytest.importorskip("torch")
    checkpoint = torch.utils.checkpoint.checkpoint

    class Half(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return checkpoint(self.second, self.first(x), use_reentrant=True)

    model = Half()
    with av.record(model):
        loss = model(torch.ones(3, 4)).sum()
    plan = Plan(graph_of(loss, {"model": model}).document)
    said = {c.title: "without checkpointed parameters" in plan.labels.about(c) for c in plan.root.items if c.path}
    assert said == {"first": False, "second": True}
    assert "without checkpointed parameters" in plan.summary()
