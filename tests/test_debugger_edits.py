"""Edits of a gradient that are refused: in clear words, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .steppers import three_leaves


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, 2.0], r"has shape \[2\]; this output of the op has shape \[\]"),
        ("x", "a number or a nested list"),
        ([[1], [1, 2]], "nested list"),
        (None, "and float32, got None"),
        (10**400, "and float32, got 1000"),
        ([10**5000], "and float32, got list"),
        (2 + 1j, r"and float32, got \(2\+1j\)"),
        (av.tensor(2 + 1j), r"and float32, got tensor\(2\.\+1\.j\)"),
        ("3", "a number or a nested list"),
    ],
    ids=lambda value: f"{type(value).__name__}",
)
@pytest.mark.parametrize("library", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
def test_an_edit_that_does_not_fit_is_refused_and_nothing_is_lost(library: str, value: Any, words: str) -> None:
    module = pytest.importorskip(library)
    a, b = (module.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    s = av.step(a * b * 4.0).stepper
    for step in (-2, 1, 2):
        s.finish()
        s.goto(step)
        value = module.tensor(2 + 1j) if isinstance(value, av.Tensor) else value
        with pytest.raises(ValueError, match=words.replace("float32", r"(torch\.)?float32")):
            s.edit(value)
        assert (s.step, len(s.trace.steps), s.trace.complete) == (step, 4, True)
    s.finish()
    assert a.grad is not None and a.grad.item() == 12.0


def test_an_edit_s_index_is_a_whole_number() -> None:
    s, _ = three_leaves()
    with pytest.raises(TypeError, match=r"takes a whole number as index, got str \('x'\)"):
        s.edit(1.0, "x")  # type: ignore[arg-type]


def test_a_number_beyond_the_gradient_s_type_is_inf_and_one_beyond_64_bits_is_itself() -> None:
    s, t = three_leaves()
    s.edit(1e300)
    s.finish()
    assert t["d"].grad is not None and t["d"].grad.item() == float("inf")
    s.goto(0)
    s.edit(10**30)
    s.finish()
    assert t["d"].grad.item() == pytest.approx(6e30)
