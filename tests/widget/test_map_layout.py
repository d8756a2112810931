"""The page puts cards where Python puts them, whatever is open: static/map/layout.js does the sum of maps/place.py."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.arrows import Arrows, clear
from autograd_viz.pictures.maps.drawing import MapDrawing
from autograd_viz.pictures.maps.ink import Ink
from autograd_viz.pictures.maps.paint import MARGIN, TOP, size_of
from autograd_viz.pictures.render import theme_named
from tests.maps.models import Towers
from tests.maps.test_recognised import Language

LAYOUT = Path(av.__file__).parent / "widget" / "static" / "map" / "layout.js"
PROGRAM = f"""
import {{ placed }} from {json.dumps(LAYOUT.as_uri())};
const {{ map, sets }} = JSON.parse(await new Response(process.stdin).text());
const tell = (p) => ({{ ...p, boxes: Object.fromEntries(p.boxes) }});
console.log(JSON.stringify(sets.map((opened) => tell(placed(map, new Set(opened))))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("model", [Language(), Towers()], ids=["lanes", "columns"])
def test_the_page_and_python_put_cards_and_ways_at_the_same_places(model: Any) -> None:
    plan = av.map(model(av.tensor([1, 2])).sum()).drawing.plan
    _, data = MapDrawing(plan, frozenset()).page(theme_named("light"), is_over=True)
    assert any(f.lanes for f in plan.places.frames.values())
    assert isinstance(model, Towers) == any(len(row) > 1 for f in plan.places.frames.values() for row in f.rows)
    choose = random.Random(0)
    frames = sorted(plan.places.frames)
    sets = [sorted({plan.root.id, *choose.sample(frames, k)}) for k in range(len(frames)) for _ in range(4)]
    told = json.dumps({"map": data, "sets": sets})
    done = subprocess.run(
        ["node", "--input-type=module", "-e", PROGRAM], input=told, capture_output=True, text=True, check=True
    )
    for opened, page in zip(sets, json.loads(done.stdout), strict=True):
        assert page == placed_by_python(plan, frozenset(opened))


def placed_by_python(plan: Any, opened: frozenset[str]) -> dict[str, Any]:
    """The same as the page's `placed`."""
    places, heights = plan.places, plan.places.heights(opened)
    corner = {plan.root.id: (MARGIN, TOP)}
    found: dict[str, Any] = {"cards": [], "flows": [], "boxes": {}}
    todo = [plan.root]
    while todo:
        card = todo.pop()
        x, y = corner[card.id]
        found["boxes"][card.id] = {"x": x, "y": y, "w": places.widths[card.id], "h": heights[card.id]}
        if card.id not in opened or card.id not in places.frames:
            continue
        for part, top, left in zip(places.parts(card), places.tops(card, heights), places.lefts(card), strict=True):
            found["cards"].append({"id": part.id, "x": left, "y": top, "h": heights[part.id]})
            corner[part.id] = (x + left, y + top)
        ends = {f.id: places.ends(card, f, heights) for f in places.frames[card.id].flows}
        lanes, crossing = places.frames[card.id].lanes, Arrows(plan, Ink(theme_named("light")), {}).crossing(card, ends)
        for id, end in ends.items():
            middle = clear(end, crossing[lanes[id]] if id in lanes else [])
            found["flows"].append({"id": id, "frame": card.id, **end._asdict(), "middle": middle})
        todo += reversed(places.parts(card))
    found["width"], found["height"] = size_of(plan, heights)
    return found


def test_a_lane_lies_beside_the_parts_and_inside_of_the_frame() -> None:
    model = Language()
    plan = av.map(model(av.tensor([1, 2])).sum()).drawing.plan
    _, data = MapDrawing(plan, frozenset()).page(theme_named("light"), is_over=True)
    lanes = [
        (data["frames"][id], data["cards"][id], f)
        for id in plan.places.frames
        for f in data["frames"][id]["flows"]
        if f["lane"]
    ]
    assert lanes
    assert all(frame["right"] < flow["lane"] < card["w"] for frame, card, flow in lanes)
    straight = {
        f.id for id in plan.places.frames for f in plan.places.frames[id].flows if plan.places.frames[id].is_straight(f)
    }
    assert not straight & {flow["id"] for _, _, flow in lanes}
