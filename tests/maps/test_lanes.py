"""Ways that skip parts: a line is one tensor, two lines are told apart, and no line runs through a number."""

from __future__ import annotations

import re
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph.trace import State
from autograd_viz.pictures.maps.arrows import BRANCH, CLEAR, DOWN, Arrows, branch, clear
from autograd_viz.pictures.maps.cards import Card
from autograd_viz.pictures.maps.columns import in_one_column
from autograd_viz.pictures.maps.flow import ENTRANCE, Flow
from autograd_viz.pictures.maps.ink import Ink
from autograd_viz.pictures.maps.place import LANE, Ends, Frame, _narrow
from autograd_viz.pictures.render.theme import theme_named
from autograd_viz.twin import nn


def entering(m: Any) -> list[tuple[bool, int]]:
    """Of each way from an entrance that skips parts: does it begin where another enters, and its lane."""
    plan, found = m.drawing.plan, list[tuple[bool, int]]()
    arrows = Arrows(plan, Ink(theme_named("light")), {})
    for id, frame in plan.places.frames.items():
        card, enters = plan.cards[id], [f for f in frame.flows if f.source == ENTRANCE]
        first = {plan.places.span(card, f)[0] + DOWN for f in enters if frame.is_straight(f)}
        found += [(arrows.start(card, f) in first, frame.lanes[f.id]) for f in enters if f.id in frame.lanes]
    return found


@pytest.mark.torch
def test_two_inputs_of_one_shape_are_two_lines_and_one_input_is_one() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    x, target = torch.ones(3, 4), torch.zeros(3, 4)
    mse = torch.nn.functional.mse_loss
    other = av.map(mse(model(x), target * 1), params=model)
    same = av.map(mse(model(x), x), params=model)
    assert (entering(other), entering(same)) == ([(False, 0)], [(True, 0)])


def test_inputs_have_a_lane_each_also_where_lanes_are_narrow_and_what_leaves_one_part_shares_one() -> None:
    parts = [Card("module", (), "", k, k + 1) for k in range(9)]
    given = [Flow(f"i{k}", ENTRANCE, k, "", None, 0, (), origins=(f"t{k % 4}",)) for k in range(1, 9)]
    left = [Flow(f"p{k}", 0, k, "", None, 0, (("n", "in", 0),)) for k in range(2, 9)]
    frame = _narrow(Frame(parts, given + left, {}, LANE, in_one_column(parts)))
    assert frame.lane < LANE
    assert {frame.lanes[f.id] for f in given} == {0, 1, 2, 3}
    assert all(frame.lanes[f.id] == frame.lanes[g.id] for f in given for g in given if f.origins == g.origins)
    assert {frame.lanes[f.id] for f in left} == {4}
    many = [Flow(f"i{k}", ENTRANCE, 1 + k % 8, "", None, 0, (), origins=(f"t{k}",)) for k in range(200)]
    assert _narrow(Frame(parts, many, {}, LANE, in_one_column(parts))).count == 1


class Heads(nn.Module):
    """Two heads of one trunk, which are used twice each."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.mu, self.spread, self.back = (nn.Linear(2, 2) for _ in range(4))

    def forward(self, x: Any) -> Any:
        h = self.trunk(x)
        mu, spread = self.mu(h), self.spread(h)
        return self.back(mu + spread.exp()).sum() + (mu * spread).sum()


def test_ways_of_parts_side_by_side_leave_at_heights_of_their_own() -> None:
    model = Heads()
    plan = av.map(model(av.ones(3, 2)), params=model).drawing.plan
    frame, row = next((f, row) for f in plan.places.frames.values() for row in f.rows if len(row) > 1)
    last = {column[-1] for column in row}
    heights = {f.source: branch(frame, f) for f in frame.flows if f.source in last}
    assert len(set(heights.values())) == len(heights) == len(row)
    assert all(0 < height <= BRANCH for height in heights.values())


@pytest.mark.parametrize(("crossing", "at"), [([], 50), ([50], 62), ([50, 62], 38), ([float(y) for y in range(100)], 50)])
def test_a_number_stands_as_near_to_the_middle_as_no_way_crosses_it(crossing: list[float], at: float) -> None:
    assert clear(Ends(0, 0, 100), crossing) == at


class Coupled(nn.Module):
    """Each layer gives a tensor that goes on, and one that is summed up."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(4)])

    def forward(self, x: Any) -> Any:
        total = av.zeros(2)
        for layer in self.layers:
            x = layer(x).tanh()
            total = total + x.exp()
        return x.sum() + total.sum()


def test_no_way_runs_through_the_number_of_another() -> None:
    m = av.map(Coupled()(av.ones(3, 2)), depth=2)
    plan, places = m.drawing.plan, m.drawing.plan.places
    heights, arrows, numbers = places.heights(frozenset(places.frames)), Arrows(plan, Ink(theme_named("light")), {}), 0
    for id, frame in places.frames.items():
        ends = {f.id: places.ends(plan.cards[id], f, heights) for f in frame.flows}
        crossing = arrows.crossing(plan.cards[id], ends)
        for f in frame.flows:
            if f.id in frame.lanes:
                at = clear(ends[f.id], crossing[frame.lanes[f.id]])
                assert all(abs(at - y) > CLEAR for y in crossing[frame.lanes[f.id]])
                numbers += bool(crossing[frame.lanes[f.id]])
    assert numbers


@pytest.mark.torch
def test_the_name_of_an_input_is_where_no_way_crosses_its_lane() -> None:
    torch = pytest.importorskip("torch")
    model, x = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3)), torch.ones(3, 4)
    with av.record(model):
        loss = torch.nn.functional.mse_loss(model[2](model[1](model[0](x)).tanh()), x)
    names = re.findall(
        r'<text x="[^"]*" y="([^"]*)"[^>]*>x</text>', av.map(loss, params=model).drawing.svg(State(), theme_named("light"))
    )
    assert names == ["4"]
