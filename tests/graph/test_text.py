"""Values as text in sentences."""

from __future__ import annotations

from autograd_viz.graph.model import Value
from autograd_viz.graph.text import value_text


def test_values_of_forty_characters_are_written_and_longer_ones_give_their_shape() -> None:
    assert value_text(Value((8,), "float32", "", (1.0,) * 8)) == "[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]"
    assert value_text(Value((8,), "float32", "", (10.0,) + (1.0,) * 7)) == "shape (8,)"
