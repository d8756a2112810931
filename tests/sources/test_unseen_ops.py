"""Ops that a recording cannot follow say why."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.graph import Document, document_from_json, document_to_json  # noqa: E402
from autograd_viz.pictures.render.writer import why_unseen  # noqa: E402
from autograd_viz.sources.anything import graph_of  # noqa: E402

pytestmark = pytest.mark.torch


def nested_loss() -> Any:
    w = torch.ones(3, 3, requires_grad=True)
    with av.record():
        parts = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
        return (torch.nn.functional.linear(parts, w) * 2).values().sum()


def document_of(loss: Any) -> Document:
    found: Document = graph_of(loss, {}).document
    return found


@pytest.mark.filterwarnings("ignore:.*nested tensors:UserWarning")
def test_ops_on_nested_tensors_say_so() -> None:
    document = document_of(nested_loss())
    said = {o.name: o.reason for o in document.ops if o.node}
    assert said == {"Linear": "nested", "Mul": "nested", "NestedGetValues": "", "Sum": ""}
    assert document_from_json(document_to_json(document)) == document
    assert {why_unseen(o) for o in document.ops if o.reconstructed} == {"A recording cannot follow ops on nested tensors."}


@pytest.mark.filterwarnings("ignore:.*nested tensors:UserWarning")
@pytest.mark.parametrize(("language", "said"), [("en", "cannot follow ops on nested tensors"), ("zh", "无法跟踪嵌套张量")])
def test_a_picture_says_it_where_the_mouse_rests(language: str, said: str) -> None:
    av.set_language(language)
    try:
        assert said in av.show(nested_loss()).svg
    finally:
        av.set_language("en")


def test_what_is_compiled_says_where_its_ops_are_read() -> None:
    """Two seconds if it is the first: Dynamo is loaded."""
    w = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: (x * 2).sin().sum(), backend="aot_eager")
    with av.record():
        loss = compiled(w) * 2
    said = [(o.name, why_unseen(o)) for o in document_of(loss).ops]
    opened = "torch.compile made one op of several. They are read from the backward graph that it keeps."
    assert said == [*((name, opened) for name in ("Mul", "Sin", "Sum", "CompiledFunction")), ("Mul", "")]


def test_what_nobody_recorded_gives_no_reason() -> None:
    loss = (torch.ones(2, requires_grad=True) * 2).sum()
    assert [(o.reconstructed, why_unseen(o)) for o in document_of(loss).ops] == [(True, "")] * 2
