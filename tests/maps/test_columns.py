"""Ways that do not meet stand side by side, and no card lies on another."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.pictures.maps.cards import Card
from autograd_viz.pictures.maps.columns import LONGEST, MOST, in_one_column, rows_of
from autograd_viz.pictures.maps.flow import ENTRANCE, EXIT, Flow
from autograd_viz.twin import nn

from .models import Towers

Edges = list[tuple[int, int]]


def arranged(kinds: str, edges: Edges) -> list[list[list[int]]]:
    """The rows of some parts: "c" a call, "o" ops, "r" the result."""
    parts = [Card({"c": "module", "o": "ops", "r": "root"}[kind], (), "", k, k + 1) for k, kind in enumerate(kinds)]
    flows = [Flow(f"f{k}", a, b, "", None, 0, ()) for k, (a, b) in enumerate(edges)]
    rows = rows_of(parts, flows)
    check(rows, len(parts), edges)
    return rows


def check(rows: list[list[list[int]]], parts: int, edges: Edges) -> None:
    """Each part has one place; ways go down; a way leaves a column at its bottom, and enters it at its top."""
    assert sorted(k for row in rows for column in row for k in column) == list(range(parts))
    row_of = {k: r for r, row in enumerate(rows) for column in row for k in column}
    column_of = {k: (r, c) for r, row in enumerate(rows) for c, column in enumerate(row) for k in column}
    assert all(len(row) <= MOST for row in rows)
    assert all(len(a) == 1 or len(b) == 1 for a, b in itertools.pairwise(rows))
    for a, b in edges:
        inner = a >= 0 and b >= 0 and row_of[a] == row_of[b]
        if inner:
            column = rows[row_of[a]][column_of[a][1]]
            assert column_of[a] == column_of[b]
            assert column.index(b) == column.index(a) + 1
        else:
            assert a < 0 or rows[row_of[a]][column_of[a][1]][-1] == a
            assert b < 0 or rows[row_of[b]][column_of[b][1]][0] == b


def chain(*places: int) -> Edges:
    """Each to the next."""
    return list(itertools.pairwise(places))


@pytest.mark.parametrize(
    ("kinds", "edges", "rows"),
    [
        ("cccc", chain(0, 1, 2, 3), [[[0]], [[1]], [[2]], [[3]]]),
        ("ccoc", [*chain(0, 1, 2, 3), (0, 2)], [[[0]], [[1]], [[2]], [[3]]]),  # a residual way
        ("ccor", [(0, 2), (1, 2), (2, 3)], [[[0], [1]], [[2]], [[3]]]),  # two towers
        ("cccor", [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], [[[0]], [[1], [2]], [[3]], [[4]]]),  # actor and critic
        ("ccccc", [*chain(0, 1, 2, 3, 4), (1, 3), (0, 4)], [[[k]] for k in range(5)]),  # a U
        ("ccccc", [(0, 1), (1, 3), (2, 3), (3, 4)], [[[0, 1], [2]], [[3]], [[4]]]),  # encoder and decoder until they meet
        ("ccccoc", [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (4, 5)], [[[0]], [[1], [2], [3]], [[4]], [[5]]]),  # q, k, v
        ("ccccco", [(k, 5) for k in range(5)], [[[k]] for k in range(6)]),  # more than three ways
        ("cocr", [(0, 2), (1, 2), (2, 3)], [[[0]], [[1]], [[2]], [[3]]]),  # what has no call makes no column
        (
            "cccoc",
            [(0, 1), (0, 2), (2, 3), (1, 4), (3, 4), (2, 4)],
            [[[0]], [[1], [2]], [[3]], [[4]]],
        ),  # out of its middle
        (
            "cccccco",
            [(0, 2), (2, 4), (1, 3), (3, 5), (2, 6), (4, 6), (5, 6)],
            [[[0, 2], [1, 3]], [[4]], [[5]], [[6]]],
        ),  # the columns end where one way leaves
    ],
)
def test_ways_that_do_not_meet_are_columns_up_to_where_they_do(kinds: str, edges: Edges, rows: Any) -> None:
    assert arranged(kinds, edges) == rows


@given(st.data())
def test_whatever_the_graph_each_part_has_one_place_and_no_way_crosses_a_card(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    kinds = data.draw(st.text("cco", min_size=count, max_size=count)) + "r"
    pairs = [(a, b) for b in range(count + 1) for a in range(ENTRANCE, b)]
    edges = sorted(data.draw(st.sets(st.sampled_from(pairs), max_size=2 * count)))
    leaving = data.draw(st.sets(st.integers(0, count - 1), max_size=2))
    arranged(kinds, [*edges, *((k, EXIT) for k in sorted(leaving))])


def test_a_long_chain_beside_another_stays_in_one_column() -> None:
    count = 2 * LONGEST
    edges = [*chain(*range(count)), (count, count + 1), (count - 1, count + 1)]
    assert arranged("c" * (count + 1) + "o", edges) == in_one_column([None] * (count + 2))  # type: ignore[list-item]


def test_a_linear_model_is_one_column_and_as_wide_as_ever() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Linear(4, 1))
    plan = av.map(model(av.ones(1, 4)).sum()).drawing.plan
    assert all(len(row) == 1 for frame in plan.places.frames.values() for row in frame.rows)
    assert len({plan.places.widths[part.id] for part in plan.places.parts(plan.root)}) == 1


def test_no_card_lies_on_another_whatever_is_open() -> None:
    model = Towers()
    plan = av.map(model(av.tensor([1, 2])).sum()).drawing.plan
    frames = [id for id in plan.places.frames if id != plan.root.id]
    assert any(len(row) > 1 for row in plan.places.frames[plan.root.id].rows)
    for size in range(len(frames) + 1):
        for opened in itertools.combinations(frames, size):
            heights = plan.places.heights(frozenset({plan.root.id, *opened}))
            for id in (plan.root.id, *opened):
                apart(plan, plan.cards[id], heights)


def apart(plan: Any, card: Card, heights: dict[str, float]) -> None:
    """The parts of an open card lie in it, and apart."""
    places = plan.places
    boxes = [
        (x, top, x + places.widths[part.id], top + heights[part.id])
        for part, x, top in zip(places.parts(card), places.lefts(card), places.tops(card, heights), strict=True)
    ]
    assert all(x >= 0 and right <= places.widths[card.id] and bottom <= heights[card.id] for x, _, right, bottom in boxes)
    for a, b in itertools.combinations(boxes, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
