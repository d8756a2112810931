"""The page that a notebook keeps of a stepper, without a notebook."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.widget import html

from .figures import figure


def leaf() -> Any:
    return av.tensor(2.0, requires_grad=True)


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_it_is_there_before_a_step_and_nobody_can_tell(number: int) -> None:
    e, names = figure(number, before=True)
    leaves = {n: t for n, t in names.items() if isinstance(t, av.Tensor) and t.is_leaf}
    grads = {n: t.grad for n, t in leaves.items()}
    s = av.step(e)
    assert "<iframe" in s.page.html()
    assert s.stepper.trace.steps == () and s.frames == []
    assert {n: t.grad for n, t in leaves.items()} == grads
    s.finish()
    assert s.complete and any(t.grad is not None for t in leaves.values())


def hooked(x: Any) -> Any:
    y = x * x
    y.register_hook(lambda g: pytest.fail("a hook has run"))
    return y


def hooked_leaf(x: Any) -> Any:
    x.register_hook(lambda g: pytest.fail("a hook has run"))
    return x * x


def accumulated(x: Any) -> Any:
    x.register_post_accumulate_grad_hook(lambda t: pytest.fail("a hook has run"))
    return x * x


def node_hooked(x: Any) -> Any:
    y = x * x
    y.grad_fn.register_prehook(lambda g: pytest.fail("a hook has run"))
    return y


def unpacked(x: Any) -> Any:
    with av.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: pytest.fail("a hook has run")):
        return x * x


def function(x: Any) -> Any:
    class Square(av.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            pytest.fail("a Function's backward has run")

    return Square.apply(x)


@pytest.mark.parametrize("program", [hooked, hooked_leaf, accumulated, node_hooked, unpacked, function])
def test_code_of_the_users_is_not_run_for_it(program: Any) -> None:
    assert av.step(program(leaf())).page.html() == ""


def test_what_has_run_is_in_it() -> None:
    x = leaf()
    y = x * x
    y.register_hook(lambda g: g * 2)
    s = av.step(y)
    s.finish()
    assert "<iframe" in s.page.html() and x.grad.item() == 8.0


def test_a_pass_that_would_be_refused_is_not_in_it() -> None:
    y = leaf() * 2
    z = y * y
    s = av.step(z)
    y.mul_(3)
    assert s.page.html() == ""


def test_a_page_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    s = av.step(leaf() * 2)
    monkeypatch.setattr(html, "MOST_NODES", 1)
    assert s.page.html() == ""
    monkeypatch.setattr(html, "MOST_NODES", 2)
    monkeypatch.setattr(html, "MOST_NUMBERS", 1)
    assert s.page.html() == ""
    monkeypatch.setattr(html, "MOST_NUMBERS", 2)
    assert s.page.html() != ""
    monkeypatch.setattr(html, "MOST_LETTERS", 1000)
    assert s.page.html() == ""


@pytest.mark.torch
def test_a_pass_of_pytorchs_is_in_it_when_it_has_run() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(2.0, requires_grad=True)
    s = av.step(x * x)
    assert s.page.html() == "" and x.grad is None
    s.finish()
    assert "<iframe" in s.page.html()


def test_a_recording_needs_no_pass(tmp_path: Any) -> None:
    av.save(figure(3, before=True)[0], tmp_path / "e.json")
    s = av.step(av.load(tmp_path / "e.json"))
    assert "<iframe" in s.page.html() and s.frames == []
