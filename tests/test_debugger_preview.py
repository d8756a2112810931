"""An edit of a gradient by a function, and what it would do to the leaves, shown before it is made."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph.codec import to_plain

LIBRARIES = ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)]


def program(module: Any) -> tuple[Any, Any, Any, Any]:
    """e = (a * b) * a: of a two gradients are added; of 12, 8 comes through c."""
    a, b = (module.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    c = a * b
    return a, b, c, c * a


def texts(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(without.text, edited.text) for without, edited in found.values()]


def told(s: Any) -> Any:
    """All that a stepper shows of its pass, and could do next."""
    return to_plain(s.trace), s.step, s.next_node, s.pending, s.drift(), s.spoiled(), to_plain(s.cursor.live.engine())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ran", [0, 2, 4])
@pytest.mark.parametrize("at", [-1, 0, 1])
def test_a_preview_tells_each_leaf_without_the_edit_and_with_it_and_leaves_no_trace(library: str, ran: int, at: int) -> None:
    a, b, _, e = program(pytest.importorskip(library))
    s = av.step(e).stepper
    s.goto(max(at, ran))
    s.goto(at)
    before = told(s)
    whole = [("12.", "24."), ("4.", "8.")]
    assert texts(s.preview(lambda g: g * 2)) == (whole if at < 1 else [("12.", "18."), ("4.", "8.")])
    assert told(s) == before
    s.finish()
    assert (a.grad.item(), b.grad.item()) == (12.0, 4.0)
    s.goto(0)
    assert a.grad is None and b.grad is None


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_preview_tells_is_what_the_edit_then_does(library: str) -> None:
    module = pytest.importorskip(library)
    w = module.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    x = module.tensor([1.0, 2.0], requires_grad=True)
    s = av.step((w @ x).tanh().sum()).stepper
    s.next()
    for change in (lambda g: g * 3, 0.0, lambda g: g / g.norm()):
        found = {f"{id}.grad": edited for id, (_, edited) in s.preview(change).items()}
        s.edit(change)
        s.finish()
        assert len(found) == 2 and found == {at: s.state.values[at] for at in found}
        s.goto(1)
        s.undo_edit()


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_second_of_two_edits_is_previewed_after_the_first(library: str) -> None:
    a, b, _, e = program(pytest.importorskip(library))
    s = av.step(e)
    s.edit(10.0)
    assert s.preview(lambda g: g * 2) == {"a": ("120.0", "240.0"), "b": ("40.0", "80.0")}
    s.next()
    s.edit(lambda g: g * 0)
    assert s.pending["values"]["0"]["text"].strip("-") == "0."
    s.undo_edit()
    s.finish()
    assert (a.grad.item(), b.grad.item()) == (120.0, 40.0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_hooks_and_random_numbers_are_as_before_a_preview(library: str) -> None:
    module = pytest.importorskip(library)
    a = module.tensor([1.0, 2.0], requires_grad=True)
    y = a * 2
    y.register_hook(lambda g: g * module.rand(2))
    a.register_hook(lambda g: a.data.mul_(2) * 0 + g)
    s = av.step(y.sum())
    module.manual_seed(1)
    s.preview(2.0)
    assert a.tolist() == [1.0, 2.0]
    s.finish()
    expected = a.grad.tolist()
    module.manual_seed(1)
    s.goto(0)
    assert (module.rand(2) * 2).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_preview_that_fails_says_why_and_changes_nothing(library: str) -> None:
    a, _, _, e = program(pytest.importorskip(library))
    s = av.step(e).stepper
    s.finish()
    s.goto(1)
    before = told(s)
    for wrong, error in (([1.0, 2.0], "has shape"), (lambda g: None, "expected a number"), (lambda g: 1 / 0, "division")):
        with pytest.raises((ValueError, ZeroDivisionError), match=error):
            s.preview(wrong)
        with pytest.raises((ValueError, ZeroDivisionError), match=error):
            s.edit(wrong)
    with pytest.raises(ValueError, match="there is no output 1"):
        s.preview(1.0, 1)
    assert told(s) == before
    s.finish()
    with pytest.raises(ValueError, match="complete"):
        s.preview(1.0)
    assert a.grad.item() == 12.0


def test_a_recording_has_no_preview(tmp_path: Any) -> None:
    *_, e = program(av)
    av.save(e, tmp_path / "e.json")
    s = av.step(av.load(tmp_path / "e.json"))
    with pytest.raises(av.AutogradVizError, match="a recording cannot be edited"):
        s.preview(2.0)
    s.finish()
    assert s.step == 4


def test_a_function_gets_a_tensor_that_it_may_change_and_zero_where_nothing_was_sent() -> None:
    a = av.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, _ = a.sort()
    s = av.step(values.sum())
    s.next()
    got: list[Any] = []

    def changed(g: av.Tensor) -> av.Tensor:
        got.append(g.tolist())
        g[0] = 5.0
        return g

    s.edit(changed)
    s.finish()
    assert got == [[1.0, 1.0, 1.0]] and a.grad is not None and a.grad.tolist() == [1.0, 5.0, 1.0]
