"""Nodes that no pass from the root calls are pale; the others, and what they share with them, are not."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import autograd_viz as av
from autograd_viz.graph.order import unreached
from autograd_viz.pictures.render.pen import PALE

G = "{http://www.w3.org/2000/svg}"


def detached() -> Any:
    x = av.tensor(2.0, requires_grad=True)
    a = (x + 1).detach()
    return a * (x + 2)


def drawn(root: Any, detail: str) -> tuple[set[str], set[str], Any]:
    """The pale boxes and the pale arrows of a figure, and its document."""
    figure = av.show(root, detail=detail)
    groups = [g for g in ET.fromstring(figure.svg).iter(f"{G}g") if g.get("data-at")]
    outlines = {g.get("data-at", ""): g.find(f"{G}rect") for g in groups}
    boxes = {at for at, o in outlines.items() if o is not None and o.get("fill-opacity") == str(PALE)}
    arrows = {g.get("data-at", "") for g in groups if g.get("opacity") == str(PALE)}
    return boxes, arrows, figure.drawing.document  # type: ignore[union-attr]


def test_the_node_of_a_detached_op_is_pale_with_its_arrows_and_what_a_pass_calls_is_not() -> None:
    for detail in ("full", "brief", "names"):
        boxes, arrows, document = drawn(detached(), detail)
        first = next(n for n in document.nodes if n.name == "AddBackward0")
        assert boxes == {first.id} == unreached(document)
        assert arrows == {f"next:{first.id}.0"}


def test_in_a_graph_without_a_detached_part_nothing_is_pale() -> None:
    x = av.tensor(2.0, requires_grad=True)
    shared = x * 3
    for root in (x, x * x + x, shared * shared, av.ones(2) * 2, av.stack([shared, x]).unbind()[0]):
        assert drawn(root, "full")[:2] == (set(), set())


def test_the_line_into_a_leaf_that_a_pale_arrow_shares_is_drawn_by_the_other() -> None:
    figure = av.show(detached(), detail="brief")
    groups = {g.get("data-at"): g for g in ET.fromstring(figure.svg).iter(f"{G}g") if "arrow" in g.get("class", "")}
    first, second = (n.id for n in figure.drawing.document.nodes if n.name == "AddBackward0")  # type: ignore[union-attr]
    assert groups[f"next:{second}.0"].get("opacity") is None

    def length(at: str) -> int:
        return sum(len(p.get("d", "")) for p in groups[at].iter(f"{G}path") if "line" in p.get("class", ""))

    assert length(f"next:{second}.0") > length(f"next:{first}.0")


def test_a_box_says_in_words_that_it_is_not_called() -> None:
    assert av.show(detached()).svg.count("not called by a pass from the root") == 1
