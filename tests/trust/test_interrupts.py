"""Ctrl-C at any moment of any verb: what is the user's is as before or as after a whole step, and the next call works."""

from __future__ import annotations

import gc
import random
import signal
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.runtime.files import write_file
from autograd_viz.runtime.interrupts import alone, whole

from .moments import Moments, heard, lines_of

MOMENTS = 24  # of each action


class Program:
    """Two leaves, a retained grad, a hook of the user's that changes a gradient, and a leaf that has a grad already."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.a = module.tensor([1.0, 2.0], requires_grad=True)
        self.b = module.tensor([3.0, 4.0], requires_grad=True)
        self.c = self.a * self.b
        self.c.retain_grad()
        self.seen: list[Any] = []
        self.c.register_hook(lambda g: self.seen.append(1) or g * 2)
        self.loss = (self.c.exp() * self.a).sum()
        self.b.grad = module.tensor([1.0, 1.0])

    def grads(self) -> list[Any]:
        return [None if t.grad is None else t.grad.tolist() for t in (self.a, self.b, self.c)]


def modules() -> list[Any]:
    return [pytest.param("autograd_viz"), pytest.param("torch", marks=pytest.mark.torch)]


@pytest.fixture(params=modules())
def module(request: pytest.FixtureRequest) -> Any:
    return av if request.param == "autograd_viz" else pytest.importorskip("torch")


def some_of(lines: int) -> list[int]:
    return sorted(random.Random(0).sample(range(1, lines + 1), min(MOMENTS, lines)))


def may_another_thread_move() -> bool:
    """Is no lock left behind?"""
    entered = []

    def move() -> None:
        with alone():
            entered.append(True)

    thread = threading.Thread(target=move, daemon=True)
    thread.start()
    thread.join(5)
    return bool(entered)


def states(module: Any) -> list[list[Any]]:
    """The grads after each whole step."""
    p = Program(module)
    stepper = av.step(p.loss)
    found = [p.grads()]
    while stepper.next() is not None:
        found.append(p.grads())
    return found


def finish(p: Program, s: Any) -> None:
    s.finish()


def there_and_back(p: Program, s: Any) -> None:
    s.finish()
    s.goto(0)
    s.goto(3)


def anew(p: Program, s: Any) -> None:
    """Steps that are forgotten and run anew."""
    s.goto(3)
    s.goto(1)
    s.edit([5.0, 6.0])
    s.goto(3)
    s.goto(1)
    s.undo_edit()
    s.finish()


@pytest.mark.parametrize("action", [finish, there_and_back, anew])
def test_a_stepper(module: Any, action: Callable[[Program, Any], None]) -> None:
    expected = states(module)
    p = Program(module)
    s = av.step(p.loss)
    wrong = []
    for at in some_of(lines_of(partial(action, p, s))):
        p = Program(module)
        s = av.step(p.loss)
        Moments(at).run(partial(action, p, s))
        if action is not anew and p.grads() != expected[max(0, s.stepper.step)]:
            wrong.append(f"line {at}: at step {s.stepper.step} the grads are {p.grads()}")
        s.goto(min(1, s.stepper.step))
        s.undo_edit()
        s.goto(0)
        if p.grads() != expected[0]:
            wrong.append(f"line {at}: Back to the start leaves {p.grads()}")
        s.finish()
        if p.grads() != expected[-1] or len(s.frames) != len(expected) - 1 or not s.complete:
            wrong.append(f"line {at}: in the end {p.grads()}, {len(s.frames)} frames, complete: {s.complete}")
        assert module.is_grad_enabled()
        assert may_another_thread_move(), f"line {at} leaves a lock"
    assert not wrong, "\n".join(wrong[:10])


def test_a_move_leaves_no_lock_and_no_handler() -> None:
    """At each of its lines."""

    def move() -> None:
        with alone(), whole():
            done.append(True)

    done: list[bool] = []
    handler = signal.getsignal(signal.SIGINT)
    for at in range(1, lines_of(move) + 1):
        done.clear()
        if not Moments(at).run(move):
            assert done
        assert may_another_thread_move(), f"line {at}"
        assert signal.getsignal(signal.SIGINT) is handler


def test_while_another_thread_moves() -> None:
    """Who waits for its turn can be interrupted."""
    has_begun, may_end = threading.Event(), threading.Event()

    def move() -> None:
        with alone():
            has_begun.set()
            may_end.wait(30)

    other = threading.Thread(target=move, daemon=True)
    other.start()
    assert has_begun.wait(30)
    press = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    with heard():
        press.start()
        with pytest.raises(KeyboardInterrupt), whole():
            pytest.fail("two moves at the same time")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    may_end.set()
    other.join(30)
    assert may_another_thread_move()


def verbs(folder: Path) -> dict[str, Callable[[Any], Any]]:
    suffixes = ("svg", "html", "json")
    saves = {s: (lambda x, s=s: av.save(x, folder / f"x.{s}", step="final", duration=0.01, scale=0.3)) for s in suffixes}
    return {"show": av.show, "step": av.step, "explain": av.explain, **saves}


def test_a_file_that_is_written(tmp_path: Path) -> None:
    """At each line: there is the old text or the new one, nothing beside it, and no file stays open."""
    path = tmp_path / "x.svg"
    path.write_bytes(b"old")
    for at in range(1, lines_of(partial(write_file, path, b"old")) + 1):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            Moments(at).run(partial(write_file, path, b"new"))
            gc.collect()
        assert not said, f"line {at}: {said[0].message}"
        assert path.read_bytes() in (b"old", b"new") and len(list(tmp_path.iterdir())) == 1, f"line {at}"


@pytest.mark.parametrize("verb", verbs(Path()))
def test_a_verb(module: Any, verb: str, tmp_path: Path) -> None:
    call = verbs(tmp_path)[verb]
    p = Program(module)
    before = p.grads()
    call(p.loss)
    files = {f.name: f.read_bytes() for f in tmp_path.iterdir()}
    wrong = []
    for at in some_of(lines_of(partial(call, p.loss)))[:: 1 if verb in ("show", "step", "explain", "svg") else 3]:
        Moments(at).run(partial(call, p.loss))
        if p.grads() != before or not module.is_grad_enabled():
            wrong.append(f"line {at}: {p.grads()}, grad mode {module.is_grad_enabled()}")
            p = Program(module)
        if {f.name: f.read_bytes() for f in tmp_path.iterdir()} != files:
            wrong.append(f"line {at}: {[f.name for f in tmp_path.iterdir()]}")
    assert not wrong, "\n".join(wrong[:10])
    assert may_another_thread_move()
    call(p.loss)
    p.seen.clear()
    p.loss.backward()
    assert p.seen == [1] and p.grads() == states(module)[-1]


@pytest.mark.torch
def test_an_answer_that_runs_a_pass_again() -> None:
    torch = pytest.importorskip("torch")
    p = Program(torch)
    loss, before = p.loss * float("nan"), p.grads()
    assert "not finite" in str(av.explain(loss))
    wrong = []
    for at in some_of(lines_of(partial(av.explain, loss))):
        Moments(at).run(partial(av.explain, loss))
        wrong += [at] if p.grads() != before else []
        p.c.grad = None
    assert not wrong
