"""What only the backward graph tells of is drawn dotted, and says so."""

from __future__ import annotations

from dataclasses import replace

import autograd_viz as av
from autograd_viz.pictures.render.drawing import Drawing
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.verbs.show import Figure


def test_a_reconstructed_op_is_dotted_and_says_so() -> None:
    a = av.tensor(2.0, requires_grad=True)
    graph = CoreGraph([a * 3], {"a": a})
    op = replace(graph.document.ops[0], reconstructed=True)
    document = replace(graph.document, ops=(op,))
    seen = Figure(Drawing(graph.document), graph.past(), "light")
    guessed = Figure(Drawing(document), graph.past(), "light")
    assert 'stroke-dasharray="2 4"' in guessed.svg and 'stroke-dasharray="2 4"' not in seen.svg
    assert "forward op, reconstructed from the backward graph" in guessed.svg
    assert "reconstructed" in repr(guessed) and "reconstructed" not in repr(seen)
