"""Frames around open groups: what is inside belongs to the group, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.graph.frames import open_groups
from autograd_viz.graph.model import Document
from autograd_viz.pictures.layout import Box, Frame, layout
from autograd_viz.pictures.render.drawing import Drawing, drawing_of
from autograd_viz.sources.twin.graph import CoreGraph

from ..effort import examples
from ..programs import Program, programs
from .test_bands import PROPERTIES, every_arrow_starts_and_ends_at_its_row

PATHS = ["", "a", "a", "a.b", "a.b.c", "a.d", "e", "layers.0", "layers.1"]


def in_modules(program: Program, turns: list[tuple[str, int]], hidden: int) -> Document:
    """What a program made, its ops in modules for so many ops each."""
    _, pool = program.run(av)
    names = {f"x{i}": t for i, t in enumerate(pool) if not hidden or i % hidden}
    used = {id(t) for p in pool if p._made_by for t in p._made_by.inputs}
    document = CoreGraph([t for t in pool if id(t) not in used], names).document
    paths = [path for path, count in turns for _ in range(count)] + [""] * len(document.ops)
    return replace(document, ops=tuple(replace(op, module=path) for op, path in zip(document.ops, paths, strict=False)))


def is_inside(x: float, y: float, frame: Frame) -> bool:
    corners = [*frame.outline, frame.outline[0]]
    right = [a for a, b in pairwise(corners) if a[0] == b[0] > x and min(a[1], b[1]) < y < max(a[1], b[1])]
    return len(right) % 2 == 1


def crosses(frame: Frame, b: Box) -> bool:
    """Does the frame's line run through the box?"""
    return any(
        min(p[0], q[0]) < b.x + b.w and b.x < max(p[0], q[0]) and min(p[1], q[1]) < b.y + b.h and b.y < max(p[1], q[1])
        for p, q in pairwise([*frame.outline, frame.outline[0]])
    )


def frames_hold_exactly_their_own(drawing: Drawing) -> None:
    g = drawing.geometry
    groups = {group.id: group for group in open_groups(drawing.shown, drawing.tree, drawing.opened)}
    assert {f.id for f in g.frames} == set(groups)
    for frame in g.frames:
        assert not any(crosses(frame, b) for b in g.boxes), frame
    for b in g.boxes:
        for group in groups.values():
            around = [f for f in g.frames if f.id == group.id and is_inside(b.x + b.w / 2, b.y + b.h / 2, f)]
            assert len(around) == (b.id.removeprefix("ctx:") in group.members), (b, group.title)


documents = st.builds(
    in_modules,
    programs(60),
    st.lists(st.tuples(st.sampled_from(PATHS), st.integers(1, 12)), max_size=12),
    st.sampled_from([0, 2, 3]),
)


@given(documents, st.sets(st.integers(0, 12)))
@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
def test_a_frame_has_its_own_boxes_inside_and_no_other(document: Document, opened: set[int]) -> None:
    """A layout takes most of the time: it is made once and asked all of them."""
    for drawing in (Drawing(document), Drawing(document, frozenset(f"g{i}" for i in opened))):
        frames_hold_exactly_their_own(drawing)
        for holds in PROPERTIES:
            if drawing.opened is None or holds is not every_arrow_starts_and_ends_at_its_row:  # a group has fewer rows
                holds(drawing.geometry)


def model() -> av.nn.Module:
    return av.nn.Sequential(av.nn.Sequential(av.nn.Linear(2, 2), av.nn.Tanh()), av.nn.Linear(2, 1))


def test_frames_nest_and_are_named_and_stand_behind_the_boxes() -> None:
    net, x = model(), av.ones(3, 2)
    loss = net(x).sum()
    svg = av.show(loss, params=net).svg
    titles = re.findall(r'<g class="frame"[^\n]*>([^<]+)</text></g>', svg)
    assert set(titles) == {"0 · Sequential", "0.0 · Linear", "1 · Linear"}
    assert titles.index("0 · Sequential") < titles.index("0.0 · Linear")
    assert svg.rindex('class="frame"') < svg.index('class="tensor')


def test_a_variable_of_the_user_stands_outside_of_the_frame_that_takes_it() -> None:
    net, x = model(), av.ones(3, 2)
    loss = net(x).sum()
    drawing = drawing_of(CoreGraph([loss], {"x": x, "net": net, "loss": loss}).document)
    (ids,) = [{t.id for t in drawing.document.tensors if t.name in ("x", "loss")}]
    groups = open_groups(drawing.shown, drawing.tree, drawing.opened)
    assert len(ids) == 2 and not any(ids & group.members for group in groups)
    (outer,) = [group for group in groups if group.title == "0 · Sequential"]
    inside = {t.name for t in drawing.document.tensors if t.id in outer.members and t.is_leaf}
    assert inside == {"net.0.0.weight", "net.0.0.bias"}
    assert len([n for n in drawing.document.nodes if n.id in outer.members]) == 5


def test_a_picture_without_modules_has_no_frames_until_a_group_is_opened() -> None:
    h = av.tensor(0.5, requires_grad=True)
    for _ in range(8):
        h = (h * 2).sin()
    document = CoreGraph([h], {"h": h}).document
    assert Drawing(document).geometry.frames == ()
    (repeat,) = Drawing(document).tree.groups
    frames = Drawing(document, frozenset({repeat.id})).geometry.frames
    assert {f.id for f in frames} == {repeat.id}


def test_no_line_runs_through_a_title() -> None:
    net = av.nn.Sequential(*(m for _ in range(4) for m in (av.nn.Linear(4, 4), av.nn.Tanh())))
    g = drawing_of(CoreGraph([net(av.ones(2, 4)).sum()], {"net": net}).document).geometry
    assert len(g.frames) == 8
    for f in g.frames:
        width = 13 * 0.6 * len(f.title)
        for arrow in g.arrows:
            for p, q in pairwise(arrow.points):
                over = min(p[0], q[0]) < f.x + width and f.x < max(p[0], q[0]) + 0.1
                assert not (over and min(p[1], q[1]) < f.y and f.y - 10 < max(p[1], q[1])), (f.title, arrow)


def test_a_narrow_frame_has_the_path_without_the_class() -> None:
    net = av.nn.Sequential(av.nn.Linear(4, 4), av.nn.Sequential(av.nn.Tanh(), av.nn.Linear(4, 4)), av.nn.Linear(4, 4))
    document = CoreGraph([net(av.ones(2, 4)).sum()], {"net": net}).document
    groups = open_groups(Drawing(document).shown, Drawing(document).tree, None)
    g = layout(document, groups)
    long = tuple(replace(group, title=f"{group.title.partition(' ')[0]} · {'Long' * 20}") for group in groups)
    assert {f.title for f in g.frames} == {group.title for group in groups}
    assert {f.title for f in layout(document, long).frames} >= {"0", "1", "2"}
