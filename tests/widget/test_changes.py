"""The changes of a gradient that the page offers, and their effect on the leaves."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.widget.questions import CHANGES
from autograd_viz.words import en

LIBRARIES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]


def stepper(module: Any) -> tuple[Any, Any]:
    """The gradient [3., 4.] of norm 5 is about to enter the node of y."""
    a = module.tensor([1.0, 1.0], requires_grad=True)
    y = a * 1.0
    s = av.step((y * module.tensor([3.0, 4.0])).sum())
    s.goto(2)
    return a, s


def ask(s: Any, kind: str, how: str, text: str, **more: Any) -> None:
    s._asked(s, {"kind": kind, "index": 0, "how": how, "text": text, **more}, [])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("how", "text", "grad"),
    [
        ("value", "[1, 2]", [1.0, 2.0]),
        ("scale", "-2", [-6.0, -8.0]),
        ("zero", "", [0.0, 0.0]),
        ("clip", "2.5", [1.5, 2.0]),
        ("clip", "10", [3.0, 4.0]),
        ("element", "1 = 9", [3.0, 9.0]),
        ("element", "[-1] = nan", [3.0, float("nan")]),
    ],
)
def test_a_change_is_shown_in_its_effect_and_made_by_the_edit(library: str, how: str, text: str, grad: list[float]) -> None:
    a, s = stepper(pytest.importorskip(library))
    ask(s, "effect", how, text, soft=True)
    shown = [] if grad == [3.0, 4.0] else [("a", "[3.0, 4.0]", str(grad))]
    assert (s.effect["rows"], s.effect["more"], s.pending, a.grad) == (shown, 1 - len(shown), {}, None)
    ask(s, "edit", how, text)
    s.finish()
    assert a.grad.tolist() == pytest.approx(grad, nan_ok=True) and s.effect == {}


@pytest.mark.parametrize("library", LIBRARIES)
def test_noise_is_the_same_in_the_effect_and_in_the_edit_and_no_generator_moves(library: str) -> None:
    module = pytest.importorskip(library)
    a, s = stepper(module)
    module.manual_seed(3)
    ask(s, "effect", "noise", "0.5", soft=True)
    ((_, _, shown),) = s.effect["rows"]
    ask(s, "edit", "noise", "0.5")
    drawn = module.rand(1).item()
    module.manual_seed(3)
    assert module.rand(1).item() == drawn
    assert s.preview(lambda g: g)["a"] == (shown, shown) and shown != "[3.0, 4.0]"
    s.finish()
    assert (a.grad - module.tensor([3.0, 4.0])).norm() < 2


@pytest.mark.parametrize(
    ("how", "text"),
    [("scale", "[1]"), ("scale", "x"), ("clip", "-1"), ("clip", "1j"), ("noise", "nan"), ("element", "5"), ("element", "x = 1"),
     ("element", "0, 0 = 1"), ("element", "7 = 1"), ("value", "__import__('os')"), ("other", "1")],
)  # fmt: skip
def test_a_change_that_cannot_be_made_says_so_where_it_was_typed(how: str, text: str) -> None:
    a, s = stepper(av)
    ask(s, "effect", how, text, soft=True)
    assert s.effect["error"].startswith("This is not a gradient: ") and s.error == ""
    ask(s, "edit", how, text)
    assert s.error and s.pending == {} and a.grad is None


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_hook_runs_while_a_person_types(library: str) -> None:
    module = pytest.importorskip(library)
    a = module.tensor(2.0, requires_grad=True)
    y = a * 3.0
    runs: list[Any] = []
    y.register_hook(runs.append)
    s = av.step(y * 2.0)
    ask(s, "effect", "scale", "2", soft=True)
    assert s.effect["waits"] and runs == []
    ask(s, "effect", "scale", "2", soft=False)
    assert s.effect["rows"] == [("a", "6.0", "12.0")] and len(runs) == 2


def test_an_effect_moves_nothing_and_is_answered() -> None:
    _, s = stepper(av)
    s.stop_on(nan=True)
    answers = s.recorded["answers"]
    ask(s, "effect", "scale", "2", soft=True)
    assert (s.step, len(s.frames), s.recorded["answers"]) == (2, 2, answers + 1)


def test_every_change_has_a_name_and_an_example() -> None:
    assert all(f"edit_how_{how}" in en.UI for how in CHANGES)
    assert {how for how in CHANGES if f"edit_example_{how}" not in en.UI} == {"value", "zero"}
