"""Pins: gradients that stay in sight, in the stepper and in its pages."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.stepper.targets import Pin

LIBRARIES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]


def program(module: Any) -> tuple[Any, Any, Any]:
    a, b = (module.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    return a, b, a * b


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_leaf_a_tensor_and_an_edge_can_be_pinned_and_named(library: str) -> None:
    module = pytest.importorskip(library)
    a, b, c = program(module)
    assert a.grad is None
    b.grad = module.tensor(5.0)
    s = av.step(c)
    s.pin("a")
    s.pin(b)
    s.pin(c)
    s.pin("c", 1)
    s.pin("a")
    assert [(pin["name"], pin.get("start")) for pin in s.pins] == [
        ("a.grad", None),
        ("b.grad", "5.0"),
        ("gradient of c", None),
        ("MulBackward0 (c) → AccumulateGrad (b)", None),
    ]
    s.unpin(b)
    s.unpin("c", 1)
    assert [pin.name for pin in s.stepper.pins] == ["a.grad", "gradient of c"]
    s.unpin()
    assert s.pins == []


def test_what_has_no_gradient_cannot_be_pinned() -> None:
    a, _, c = program(av)
    x = av.tensor(1.0)
    s = av.step(c * x)
    for wrong, edge, error in (
        ("q", None, "no tensor 'q'"),
        ("x", None, "no gradient arrives at x"),
        ("c", 7, "there is no edge 7"),
    ):
        with pytest.raises(ValueError, match=error):
            s.pin(wrong, edge)
    s.pins = [
        {"at": "t99.grad"},
        {"at": "n0.in"},
        {"at": "n0.out.9"},
        {"at": 3},
        4,
        {"at": f"{s.stepper.id_of(a)}.grad", "name": "x"},
    ]
    assert s.stepper.pins == (Pin(f"{s.stepper.id_of(a)}.grad", "a.grad"),)


def test_the_facts_of_a_step_are_where_a_pin_looks_for_them() -> None:
    a, b, c = program(av)
    a.grad = av.tensor(1.0)
    s = av.step(c)
    s.finish()
    facts = {f["facts"]["node"]: f["facts"] for f in s.frames}
    made = next(t for t in s.stepper.document.tensors if t.name == "c")
    assert (facts[made.grad_fn]["came"], facts[made.grad_fn]["left"]) == ([[1.0, 1, "1.0"]], [[3.0, 1, "3.0"], [2.0, 1, "2.0"]])
    grads = [grad for f in s.frames for grad in f["facts"]["grads"]]
    assert grads == [[s.stepper.id_of(a), [1.0, 1, "1.0"], [4.0, 1, "4.0"]], [s.stepper.id_of(b), None, [2.0, 1, "2.0"]]]


def test_pins_are_kept_in_saved_pages_and_in_the_page_of_a_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from autograd_viz.widget import html

    kept: list[Any] = []
    packed = html._packed
    monkeypatch.setattr(html, "_packed", lambda block: kept.append(block) or packed(block))
    a, _, c = program(av)
    s = av.step(c)
    s.pin(a)
    assert s.page.html()
    s.finish()
    av.save(s, tmp_path / "s.html")
    assert sum('"pins":[{"at":"' in block and '"name":"a.grad"' in block for block in kept) == 2
