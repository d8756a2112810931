"""The properties that every layout keeps, on random programs."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.pictures.layout import DETAILS, WAITE, Arrow, Box, Geometry, Sizes, layout
from autograd_viz.pictures.layout.geometry import Point
from autograd_viz.pictures.render.drawing import Drawing
from autograd_viz.sources.twin.graph import CoreGraph

from ..effort import examples
from ..programs import Program, programs


def crowd(pool: list[av.Tensor], at: int, count: int, kind: str) -> list[av.Tensor]:
    """What an op makes that takes, or gives, more than can be told apart."""
    t = pool[at % len(pool)]
    like = [x for x in pool if x.shape == t.shape]
    if kind == "one":  # one tensor, many times
        return [av.stack([t] * count)]
    if kind == "some":  # a few, all but one of them many times
        return [av.stack([*(x for x in like[:5] for _ in range(count)), t * 2.0])]
    if kind == "results":  # of another box, with and without a box of their own
        rows = av.stack([x * 2.0 for x in like[:3]] * count).unbind(0)
        return [*rows[:2], av.stack(rows), av.stack(rows[::2])]
    return [av.stack([x.detach() for x in like[:3]] * count), av.stack([t] * count).unbind(0)[-1]]


def joined(t: av.Tensor, length: int, first: bool) -> list[av.Tensor]:
    """What a chain from a leaf joins."""
    chain = av.ones(t.shape, requires_grad=True)
    for i in range(length):
        chain = chain.sigmoid() if i % 2 else chain.view(t.shape)
    return [chain * t.sin() if first else t.sin() * chain]


def geometry_of(
    program: Program,
    crowds: list[tuple[int, int, str]],
    chains: list[tuple[int, int, bool]],
    hidden: int,
    retained: int,
    sizes: Sizes,
) -> Geometry:
    """The layout of everything a program made; every `hidden`-th tensor has no name, every `retained`-th keeps its grad."""
    _, pool = program.run(av)
    for at, count, kind in crowds:
        pool += crowd(pool, at, count, kind)
    for at, length, first in chains:
        pool += joined(pool[at % len(pool)], length, first)
    for t in pool[:: retained or len(pool) + 1]:
        if t.requires_grad:
            t.retain_grad()
    names = {f"x{i}": t for i, t in enumerate(pool) if not hidden or i % hidden}
    used = {id(t) for p in pool if p._made_by for t in p._made_by.inputs}
    ends = [t for t in pool if id(t) not in used]
    return layout(Drawing(CoreGraph(ends, names).document).shown.document, sizes=sizes)


kinds = st.sampled_from(["one", "some", "results", "constants"])
crowds = st.just([]) | st.lists(st.tuples(st.integers(0, 60), st.sampled_from([3, 26, 1000]), kinds), max_size=4)
chains = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 4), st.booleans()), max_size=6)
graphs = st.builds(
    geometry_of,
    programs(60),
    crowds,
    chains,
    st.sampled_from([0, 2, 3]),
    st.sampled_from([0, 5]),
    st.sampled_from([WAITE, *DETAILS.values()]),
)


def pieces(arrow: Arrow) -> list[tuple[Point, Point]]:
    return list(zip(arrow.points, arrow.points[1:], strict=False))


def overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    """Do two rectangles (x, y, w, h) have a point in common that is inside both?"""
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def rectangle(b: Box) -> tuple[float, float, float, float]:
    return b.x, b.y, b.w, b.h


def no_two_boxes_overlap(g: Geometry) -> None:
    for a, b in combinations(g.boxes, 2):
        assert not overlap(rectangle(a), rectangle(b)), (a, b)


def arrows_run_straight_and_cross_no_box(g: Geometry) -> None:
    """An arrow may touch the inside of its own boxes only on the way from or to its row at their edge."""
    for arrow in g.arrows:
        for p, q in pieces(arrow):
            assert p[0] == q[0] or p[1] == q[1], arrow
            line = min(p[0], q[0]), min(p[1], q[1]), abs(p[0] - q[0]), abs(p[1] - q[1])
            for b in g.boxes:
                inner = (b.x + 0.5, b.y + 0.5, b.w - 1, b.h - 1)
                if overlap(line, inner):
                    at_row = (b.id == arrow.source and p == arrow.points[0]) or (b.id == arrow.target and q == arrow.points[-1])
                    depth = min(max(p[0], q[0]) - b.x, b.x + b.w - min(p[0], q[0]))
                    assert at_row and p[1] == q[1] and depth <= 10.5, (arrow, b)


def arrows_of_different_nets_never_run_on_top_of_each_other(g: Geometry) -> None:
    runs: dict[tuple[int, float], list[tuple[float, float, tuple[str, ...]]]] = {}
    for arrow in g.arrows:
        for p, q in pieces(arrow):
            axis = 0 if p[1] == q[1] else 1
            lo, hi = sorted((p[axis], q[axis]))
            runs.setdefault((axis, p[1 - axis]), []).append((lo, hi, arrow.net))
    for line in runs.values():
        for (lo, hi, net), (lo2, hi2, net2) in combinations(line, 2):
            assert net == net2 or min(hi, hi2) - max(lo, lo2) <= 0.5, (net, net2)


def no_label_covers_a_box_or_another_label(g: Geometry) -> None:
    labels = [(m.x, m.y, m.w, m.h) for m in g.labels]
    for label in labels:
        for b in g.boxes:
            assert not overlap(label, rectangle(b)), (label, b)
    for a, b in combinations(labels, 2):
        assert not overlap(a, b), (a, b)


ROW_OF = {
    "grad_fn": ("tensor", "grad_fn", "source"),
    "grad": ("tensor", "grad", "target"),
    "retain": ("tensor", "grad", "target"),
    "save": ("op", "save", "source"),
    "saved": ("node", "saved", "target"),
    "next": ("node", "next_functions", "source"),
}


def every_arrow_starts_and_ends_at_its_row(g: Geometry) -> None:
    boxes = {b.id: b for b in g.boxes}
    for arrow in g.arrows:
        for id, (x, y) in ((arrow.source, arrow.points[0]), (arrow.target, arrow.points[-1])):
            b = boxes[id]
            assert b.x <= x <= b.x + b.w and b.y <= y <= b.y + b.h, (arrow, b)
        if arrow.kind in ROW_OF:
            kind, key, end = ROW_OF[arrow.kind]
            b = boxes[getattr(arrow, end)]
            assert b.kind == kind
            y = arrow.points[0 if end == "source" else -1][1]
            row = next((r for r in b.rows if r.key == key), None)
            if row is None and g.sizes.detail != "full":
                continue
            assert row.y <= y <= row.y + row.h, (arrow, row)


def each_output_of_a_node_has_its_own_entry(g: Geometry) -> None:
    """The index in next_functions is visible: arrows to different outputs end at different points."""
    ends: dict[tuple[str, ...], set[Point]] = {}
    for arrow in g.arrows:
        if arrow.kind == "next":
            ends.setdefault(arrow.net, set()).add(arrow.points[-1])
    assert all(len(points) == 1 for points in ends.values())
    points = [p for ps in ends.values() for p in ps]
    assert len(points) == len(set(points))


def everything_lies_inside_the_picture(g: Geometry) -> None:
    xs = [x for a in g.arrows for x, _ in a.points] + [v for b in g.boxes for v in (b.x, b.x + b.w)]
    ys = [y for a in g.arrows for _, y in a.points] + [v for b in g.boxes for v in (b.y, b.y + b.h)]
    assert g.x <= min(xs) and max(xs) <= g.x + g.width
    assert g.y <= min(ys) and max(ys) <= g.y + g.height


PROPERTIES = (
    no_two_boxes_overlap,
    arrows_run_straight_and_cross_no_box,
    arrows_of_different_nets_never_run_on_top_of_each_other,
    no_label_covers_a_box_or_another_label,
    every_arrow_starts_and_ends_at_its_row,
    each_output_of_a_node_has_its_own_entry,
    everything_lies_inside_the_picture,
)


@given(graphs)
@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
def test_every_layout_keeps_every_property(g: Geometry) -> None:
    """A layout takes most of the time: it is made once and asked all of them."""
    for holds in PROPERTIES:
        holds(g)


def test_the_bands_of_the_long_figure_are_360_apart() -> None:
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    c = a * b
    d = av.tensor(4.0, requires_grad=True)
    e = c * d
    g = layout(CoreGraph([e], {"a": a, "b": b, "c": c, "d": d, "e": e}).document)
    top = {box.id: box.y for box in g.boxes}
    assert (top["t2"] - top["t0"], top["t4"] - top["t2"]) == (360, 360)


@pytest.mark.parametrize("count", [1, 40])
def test_a_document_without_a_graph_is_laid_out(count: int) -> None:
    tensors = [av.tensor(float(i)) for i in range(count)]
    g = layout(CoreGraph(tensors, {}).document)
    assert len(g.boxes) == count and not g.arrows
