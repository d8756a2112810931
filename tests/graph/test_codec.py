"""Documents and traces survive JSON, and a wrong JSON is refused with a reason."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import autograd_viz as av
from autograd_viz.errors import DocumentError
from autograd_viz.graph import (
    SCHEMA_VERSION,
    Document,
    document_from_json,
    document_to_json,
    state_at,
    trace_from_json,
    trace_to_json,
)
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.sources.twin.node_pass import CorePass
from autograd_viz.stepper import Stepper

from ..programs import Program, programs


def document_of(program: Program) -> tuple[Document, Any]:
    _, pool = program.run(av)
    root = pool[-1].sum()
    graph = CoreGraph([root], {f"x{i}": t for i, t in enumerate(pool) if i % 3})
    return graph.document, (graph, root)


@given(programs())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_a_document_and_its_trace_survive_json(program: Program) -> None:
    document, (graph, root) = document_of(program)
    again = document_from_json(document_to_json(document))
    assert again == document or "nan" in document_to_json(document)
    if root.requires_grad:
        stepper = Stepper(document, CorePass(graph, root, None, None, False))
        stepper.finish()
        text = trace_to_json(stepper.trace)
        assert trace_to_json(trace_from_json(text)) == text


def test_nan_and_infinities_survive_json() -> None:
    x = av.tensor([float("nan"), float("inf"), -float("inf"), 1.0])
    document = CoreGraph([x], {}).document
    text = document_to_json(document)
    assert "NaN" not in text and "Infinity" not in text
    numbers = document_from_json(text).tensors[0].value.numbers
    assert str(numbers) == "(nan, inf, -inf, 1.0)"


def test_complex_numbers_survive_json() -> None:
    numbers = [1 + 2j, -2.5e-07j, complex("nan"), complex("inf-infj"), -1 - 0j]
    document = CoreGraph([av.tensor(numbers, dtype=av.complex128)], {}).document
    again = document_from_json(document_to_json(document)).tensors[0].value.numbers
    assert list(map(str, again)) == list(map(str, map(complex, numbers)))
    with pytest.raises(DocumentError, match="is not one of"):
        document_from_json(document_to_json(document).replace('"(1+2j)"', '"(1+2k)"'))


def test_a_document_is_frozen() -> None:
    document = CoreGraph([av.tensor(1.0)], {}).document
    with pytest.raises(FrozenInstanceError):
        document.roots = ()  # type: ignore[misc]


def test_the_same_program_gives_the_same_document() -> None:
    documents = []
    for _ in range(2):
        a = av.tensor(2.0, requires_grad=True)
        b = (a * a).exp()
        documents.append(CoreGraph([b], {"a": a, "b": b}).document)
    assert documents[0] == documents[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "this is not JSON"),
        ("[]", "has no document"),
        (
            json.dumps({"schema": 99, "document": {}}),
            "cannot read schema version 99",
        ),
        (json.dumps({"schema": SCHEMA_VERSION, "document": {}}), "document: .*tensors"),
        (json.dumps({"schema": SCHEMA_VERSION, "document": {"tensors": 3}}), "document.tensors: expected a list, got int"),
        (json.dumps({"schema": SCHEMA_VERSION, "document": {"tensors": [], "x": 1}}), "document: unknown field 'x'"),
        (json.dumps({"schema": SCHEMA_VERSION, "document": {"tensors": [[]]}}), r"document.tensors\[0\]: expected an object"),
        (
            json.dumps({"schema": SCHEMA_VERSION, "document": {"tensors": [], "roots": [1]}}),
            r"document.roots\[0\]: expected str, got 1",
        ),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        document_from_json(text)


def test_a_state_beyond_the_trace_is_refused() -> None:
    a = av.tensor(2.0, requires_grad=True)
    stepper = av.step(a * a).stepper
    with pytest.raises(IndexError, match="step 1 is out of range; the trace has steps 0 to 0"):
        state_at(stepper.trace, 1)
