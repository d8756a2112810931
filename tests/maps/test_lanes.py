"""Ways that skip parts: a line is one tensor, two lines are told apart, and no line runs through a number."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.arrows import BRANCH, CLEAR, Arrows, branch, clear
from autograd_viz.pictures.maps.flow import ENTRANCE
from autograd_viz.pictures.maps.ink import Ink
from autograd_viz.pictures.maps.place import FEW, Ends
from autograd_viz.pictures.render.theme import theme_named
from autograd_viz.twin import nn

from .models import Towers


def entering(m: Any) -> list[tuple[bool, int | None]]:
    """Of each way from the entrance that skips parts: does it begin where another enters, and its lane."""
    plan = m.drawing.plan
    frame, arrows = plan.places.frames[plan.root.id], Arrows(plan, Ink(theme_named("light")), {})
    ways = [f for f in frame.flows if f.source == ENTRANCE and not frame.is_straight(f)]
    first = [plan.places.span(plan.root, f)[0] for f in frame.flows if f.source == ENTRANCE and frame.is_straight(f)]
    return [(any(abs(arrows.start(plan.root, f) - x) < 200 for x in first), frame.lanes[f.id]) for f in ways]


def test_two_inputs_of_one_shape_are_two_lines_and_one_input_is_one() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    x, target = torch.ones(3, 4), torch.zeros(3, 4)
    mse = torch.nn.functional.mse_loss
    assert entering(av.map(mse(model(x), target * 1), params=model)) == [(False, 0)]
    assert entering(av.map(mse(model(x), x), params=model)) == [(True, 0)]


def test_many_inputs_have_a_lane_each_also_where_lanes_are_narrow() -> None:
    torch = pytest.importorskip("torch")
    layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(FEW + 3))
    with av.record(layers):
        h = torch.ones(2, 4)
        for layer, more in zip(layers, [torch.ones(2, 4) for _ in layers], strict=True):
            h = layer(h) * more
        loss = h.sum()
    lanes = [lane for _, lane in entering(av.map(loss, params=layers))]
    assert len(set(lanes)) == len(lanes) > FEW


def test_ways_of_parts_side_by_side_leave_at_heights_of_their_own() -> None:
    m = av.map(Towers()(av.tensor([0, 1])).sum(), depth=1)
    plan = m.drawing.plan
    frame = plan.places.frames[plan.root.id]
    row = next(row for row in frame.rows if len(row) > 1)
    last = {column[-1] for column in row}
    heights = {f.source: branch(frame, f) for f in frame.flows if f.source in last}
    assert len(set(heights.values())) == len(heights) == len(row)
    assert all(0 < height <= BRANCH for height in heights.values())


@pytest.mark.parametrize(("crossing", "at"), [([], 50), ([50], 62), ([50, 62], 38), ([float(y) for y in range(100)], 50)])
def test_a_number_stands_as_near_to_the_middle_as_no_way_crosses_it(crossing: list[float], at: float) -> None:
    assert clear(Ends(0, 0, 100), crossing) == at


class Flow(nn.Module):
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
    m = av.map(Flow()(av.ones(3, 2)), depth=2)
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
