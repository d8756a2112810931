"""What a closed card says of its inside: calls in the order of the program, in one line."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.chips import Chip, fitted
from autograd_viz.pictures.maps.place import CHIPS, HEADER
from autograd_viz.twin import nn

from .models import Net, loss_of
from .test_recognised import titles


class Expert(nn.Module):
    """A small network."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.down(self.up(x).tanh())


class Mixture(nn.Module):
    """A gate and experts."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts, self.shared = nn.Linear(4, 4), nn.ModuleList([Expert() for _ in range(4)]), Expert()

    def forward(self, x: Any) -> Any:
        weights, found = self.gate(x), self.shared(x)
        for k, expert in enumerate(self.experts):
            found = found + weights[:, k : k + 1] * expert(x)
        return found


class Layer(nn.Module):
    """A block with two residual ways."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attn, self.moe = nn.LayerNorm(4), nn.Linear(4, 4), Mixture()
        self.scale = nn.Parameter(av.ones(4))

    def forward(self, x: Any) -> Any:
        x = x + self.attn(self.norm(x)) * self.scale
        return x + self.moe(x)


class Model(nn.Module):
    """Two blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(5, 4), nn.ModuleList([Layer(), Layer()]), nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h)
        return self.head(h)


def chips_of(m: Any, path: str) -> list[Any]:
    """Of a card: kinds, titles, and what is said beside them."""
    return list(m.drawing.plan.labels.inside.of(m.drawing.plan.card(path)))


def test_a_block_says_its_calls_in_order_and_where_its_residual_ways_join() -> None:
    model = Model()
    m = av.map(model(av.tensor([1, 2])).sum(), depth=1)
    said = [(chip.title, chip.about) for chip in chips_of(m, "layers.0")]
    assert [title for title, _ in said if title in ("norm", "attn", "moe")] == ["norm", "attn", "moe"]
    assert {("attn", "Linear"), ("moe", "gate, shared, 4 × Expert"), ("+", "")} <= set(said) and said[-1] == ("+", "")
    assert [chip.after for chip in chips_of(m, "layers.0")][:2] == [False, True]
    assert [chip.title for chip in chips_of(m, "layers.0.moe")] == ["gate", "shared", "4 × Expert"]


def test_a_stack_says_what_is_in_one_of_its_equal_calls() -> None:
    model = Net()
    m = av.map(loss_of(model), depth=1)
    assert [chip.title for chip in chips_of(m, "blocks.0 … blocks.2")] == ["first", "Tanh", "second", "+"]


def test_an_addition_of_a_constant_is_no_join() -> None:
    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x) + 1.0)

    model = nn.Sequential(Shifted(), nn.Linear(4, 1))
    assert [c.title for c in chips_of(av.map(model(av.ones(1, 4)).sum(), depth=1), "0")] == ["first", "Add", "second"]


def test_a_card_without_calls_is_one_line_high_and_another_has_one_line_more() -> None:
    model = Model()
    plan = av.map(model(av.tensor([1, 2])).sum()).drawing.plan
    heights = {card.name: plan.places.closed[card.id] for card in plan.cards.values() if card.kind == "module" and card.depth}
    assert {heights["embed"], heights["head"], heights["layers.0.norm"]} == {HEADER}
    assert {heights["layers.0"], heights["layers.0.moe"]} == {HEADER + CHIPS}


def test_a_free_parameter_has_its_place_in_the_line_of_its_module() -> None:
    model = Model()
    plan = av.map(model(av.tensor([1, 2])).sum()).drawing.plan
    assert [line.name for line in plan.labels.own(plan.card("layers.0"))] == ["scale"]
    assert [line.name for line in plan.labels.own(plan.card("embed"))] == ["weight"]
    assert plan.labels.own(plan.card("layers.0.moe")) == []


@pytest.mark.parametrize(
    ("room", "said"),
    [(400, "norm attn:MLA mlp:MLP"), (120, "norm … 2 more"), (10, "… 3 more")],
)
def test_where_there_is_no_room_classes_go_first_and_then_the_last_chips(room: float, said: str) -> None:
    chips = [Chip("call", "norm"), Chip("call", "attn", "MLA", after=True), Chip("call", "mlp", "MLP", after=True)]
    assert " ".join(c.title + (f":{c.about}" if c.about else "") for c in fitted(chips, room)) == said


def test_calls_are_told_before_ops() -> None:
    ops = [Chip("op", name) for name in ("Softmax(dim=-1), Topk", "Sum, Div")]
    chips = [Chip("call", "gate"), *ops, Chip("join", "+"), Chip("call", "4 × Expert"), Chip("op", "Mul")]
    for room, said in ((600, "gate Softmax(dim=-1), Topk Sum, Div + 4 × Expert Mul"), (230, "gate + 4 × Expert … 3 more")):
        assert " ".join(c.title for c in fitted(chips, room)) == said
    assert [c.title for c in fitted(ops, 150)] == ["… 2 more"]
    assert [c.title for c in fitted([*ops, *ops], 250)] == [ops[0].title, "… 3 more"]


def test_a_sequential_in_a_sequential_is_no_card_of_its_own_but_what_is_marked_is() -> None:
    model = nn.Sequential(nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))))
    assert titles(av.map(model(av.ones(1, 4)).sum()))[:3] == ["0.0.0", "0.0.1", "0.0.2"]
    model[0][0].register_forward_hook(lambda module, given, out: None)
    assert titles(av.map(model(av.ones(1, 4)).sum()))[0] == "0.0"


def test_experts_that_a_line_has_no_room_for_are_one_chip_and_layers_of_several_kinds_are_not() -> None:
    gate, shared = Chip("call", "gate", "Linear"), Chip("call", "shared", "Expert")
    experts = [chip for k in range(4) for chip in (Chip("call", f"experts.{k}", "Expert"), Chip("op", "Index, Mul, IndexAdd"))]
    said = [chip.title for chip in fitted([gate, *experts[:-1], shared], 400.0)]
    assert said == ["gate", "4 × Expert", "shared"]
    kinds = ("Conv2d", "ReLU", "Conv2d", "ReLU", "Conv2d", "ReLU")
    layers = [Chip("call", f"layers.{k}", kind) for k, kind in enumerate(kinds)]
    assert [chip.title for chip in fitted(layers, 300.0)] == ["layers.0", "layers.1", "layers.2", "… 3 more"]
    assert len(fitted([gate, *experts], 2000.0)) == 9
