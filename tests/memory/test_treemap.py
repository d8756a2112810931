"""The rectangles of a treemap."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd_viz.pictures.memory.tree import Rect, squarified


@settings(max_examples=40)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), st.integers(1, 900), st.integers(1, 400))
def test_a_treemap_fills_its_room_in_proportion(sizes: list[int], width: int, height: int) -> None:
    sizes.sort(reverse=True)
    room = Rect(10, 20, width, height)
    rects = squarified(sizes, room)
    for size, r in zip(sizes, rects, strict=True):
        assert r.area == pytest.approx(room.area * size / sum(sizes), rel=1e-6)
        assert r.x >= 10 - 1e-6 and r.y >= 20 - 1e-6 and r.x + r.w <= 10 + width + 1e-6 and r.y + r.h <= 20 + height + 1e-6
    middles = [(r.x + r.w / 2, r.y + r.h / 2) for r in rects]
    for i, (x, y) in enumerate(middles):
        assert not any(r.x < x < r.x + r.w and r.y < y < r.y + r.h for k, r in enumerate(rects) if k != i)
