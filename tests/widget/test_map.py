"""The widget on a map: what a step writes, whole cards in one step, and the figure of a card."""

from __future__ import annotations

import re
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.drawing import MapDrawing
from autograd_viz.pictures.render.theme import theme_named
from tests.functions import Stops
from tests.maps.models import Net, loss_of
from tests.maps.test_calls import Recurrent


class Blocking(Net):
    """A net with a branch to which no gradient comes."""

    def __init__(self, blocks: int) -> None:
        super().__init__(blocks)
        self.side = av.nn.Linear(2, 1)

    def forward(self, x: Any) -> Any:
        return super().forward(x) + Stops.apply(self.side(x))


def card(s: Any, path: str) -> str:
    return str(next(c.id for c in s.drawing.plan.cards.values() if c.name == path))


def texts(frame: dict[str, Any]) -> list[str]:
    return [after[0][0][0] for _, _, after in frame["changes"] if after]


def test_a_model_too_large_to_be_read_is_a_map_unless_the_figure_is_asked_for() -> None:
    model = Net(4)
    assert isinstance(av.step(loss_of(model)).drawing, MapDrawing)
    assert isinstance(av.show(loss_of(model)).drawing, MapDrawing)
    assert not isinstance(av.step(loss_of(model), collapse=True).drawing, MapDrawing)
    h = av.tensor(1.0, requires_grad=True)
    for _ in range(50):
        h = h * 1.5
    assert not isinstance(av.step(h).drawing, MapDrawing)  # no module is known


def test_each_step_tells_norms_of_the_pass() -> None:
    model = Net(4)
    loss = loss_of(model)
    s = av.step(loss)
    s.finish()
    said = [t for frame in s.frames for t in texts(frame)]
    for p in (model.head.weight, model.blocks[0].first.bias):  # the stepper has left their gradients
        assert f"grad {p.grad.norm().item():.3g}" in said
    assert {frame["node"] for frame in s.frames} <= s.drawing.plan.cards.keys()
    assert "no grad" not in said


def test_what_the_pass_does_not_reach_is_said_at_its_end_and_not_before() -> None:
    model = Net(4)
    model.unused = av.nn.Parameter(av.ones(2))
    loss = loss_of(model) + Stops.apply(model.unused).sum()
    s = av.step(loss)
    s.finish()
    said = [[t for t in texts(frame) if t == "no grad"] for frame in s.frames]
    assert said[-1]
    assert not any(said[:-1])


def test_leave_runs_a_card_for_real_and_says_what_it_did() -> None:
    model = Net(4)
    s = av.step(loss_of(model))
    s.run_to(next(n for n in s.stepper.document.nodes if n.id == s.drawing.shown.first_node(card(s, "head"))).id)
    s.leave("head")
    assert model.head.weight.grad is not None
    assert model.blocks[3].second.weight.grad is None
    assert s.did.startswith("head: ")
    assert "gradients of parameters: 2" in s.did
    assert s.stopped == ""
    s.leave("blocks.3")
    assert s.stepper.next_node not in s.drawing.plan.members[card(s, "blocks.3")]
    assert model.blocks[3].first.weight.grad is not None
    s.next()
    assert s.did == ""
    with pytest.raises(ValueError, match=r"no card 'nowhere'; the first level has embed"):
        s.leave("nowhere")


def test_leave_goes_to_a_card_that_is_not_next_and_through_it_once() -> None:
    model = Net(4)
    s = av.step(loss_of(model))
    s.leave("blocks.2")
    assert model.blocks[2].first.weight.grad is not None
    assert model.blocks[1].second.weight.grad is None
    assert s.did.startswith("blocks.2: ")
    assert "–" not in s.did
    with pytest.raises(ValueError, match=r"'blocks.2' has no backward node that is still to run"):
        s.leave("blocks.2")
    s.leave("blocks.0 … blocks.3")
    assert model.blocks[0].first.weight.grad is not None
    s.leave("c0")
    assert s.complete
    assert s.did.startswith("result = ")


def test_a_card_is_a_place_to_stop_at_and_to_run_to() -> None:
    model = Net(4)
    s = av.step(loss_of(model))
    inside = s.drawing.plan.members[card(s, "blocks.1")]
    s.stop_at("blocks.1")
    s.run()
    assert s.stepper.next_node in inside
    s.reset()
    s.clear_stops()
    s.run_to("blocks.1")
    assert s.stepper.next_node in inside


def test_the_picture_beside_a_stepper_says_no_grad_only_when_none_can_come() -> None:
    model = Blocking(4)
    loss = loss_of(model)
    s = av.step(loss)
    assert "no grad" not in str(s.still())
    s.finish()
    assert "no grad" in str(s.still())
    m = av.map(loss_of(model)).widget()
    assert "open its cards" in str(m.still())


def test_a_card_opens_into_its_figure_and_back() -> None:
    model = Net(16)
    s = av.step(loss_of(model))
    s.next()
    s.figure("blocks.1.first")
    assert "map" not in s.picture
    assert s.picture["has_map"]
    drawn = {t["name"] for t in s.picture["document"]["tensors"]}
    assert any(n and n.endswith("blocks.1.first.weight") for n in drawn)
    assert not any(n and n.endswith("blocks.2.first.weight") for n in drawn)
    s.next()
    s.map()
    assert s.picture["map"]["root"] == "c0"
    assert s.step == len(s.frames) == 2


def test_a_breakpoint_on_a_card_stops_before_its_first_node() -> None:
    model = Net(4)
    s = av.step(loss_of(model))
    s.shown_stops = [{"kind": "node", "node": card(s, "blocks.2")}]
    s.run()
    assert s.stepper.next_node in s.drawing.plan.members[card(s, "blocks.2")]
    assert s.stepper.current.node not in s.drawing.plan.members[card(s, "blocks.2")]


def test_a_map_of_no_steps_has_the_numbers_and_the_figure() -> None:
    model = Net(4)
    m = av.map(loss_of(model))
    w = m.widget()
    assert w.picture["total"] == 0
    assert w.picture["map"]["still"]
    assert "grad" in w.picture["map"]["cards"][card(w, "head")]["lines"][0]["said"]
    w.figure("head")
    assert w.picture["has_map"]


def test_expand_and_collapse_take_paths() -> None:
    model = Net(4)
    s = av.step(loss_of(model))
    s.expand("blocks.1")
    assert card(s, "blocks.1") in s.picture["map"]["opened"]
    s.collapse("blocks.1")
    assert card(s, "blocks.1") not in s.picture["map"]["opened"]
    with pytest.raises(ValueError, match="matches no module"):
        s.expand("nowhere")


def test_the_gradient_of_each_turn_is_filled_in_while_one_steps() -> None:
    model = Recurrent()
    s = av.step(model(av.ones(2, 3)).sum())
    page, _ = s.drawing.page(theme_named("light"), False)
    turns = [ways.split() for ways in re.findall(r'data-turn="([^"]*)"', page)]
    assert len(turns) == 6
    s.finish()
    norms = {id for frame in s.frames for id, _, _ in frame["norms"]}
    assert all(ways and norms.issuperset(ways) for ways in turns)
    said = [t for frame in s.frames for t in texts(frame) if t.startswith("grad by turn")]
    assert said[0].startswith("grad by turn: ? … ") and "?" not in said[-1]
