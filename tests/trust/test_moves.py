"""A move inside of a move, and a process that is forked while a move is made."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.runtime import interrupts

MOVES: dict[str, tuple[Any, ...]] = {
    "next": (), "back": (), "finish": (), "reset": (), "goto": (0,), "run": (), "run_to": ("x",), "until": ("x",),
    "edit": (1.0,), "undo_edit": (),
}  # fmt: skip
LIMIT = 30  # seconds until a child that hangs is killed


@pytest.mark.parametrize("library", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("move", MOVES)
def test_a_move_inside_of_a_move_is_refused_and_the_pass_goes_on(move: str, library: str) -> None:
    lib = pytest.importorskip(library)
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = y.exp().sum()
    s = av.step(z, retain_graph=True)
    refused: list[str] = []

    def hook(_: Any) -> None:
        with pytest.raises(RuntimeError) as error:
            getattr(s.stepper, move)(*MOVES[move])
        refused.append(str(error.value))

    handle = y.register_hook(hook)
    s.finish()
    handle.remove()
    assert len(refused) == 1 and refused[0].startswith(f"{move}() was called inside a step of the same stepper")
    stepped = x.grad.tolist()
    s.reset()
    assert x.grad is None
    z.backward()
    assert x.grad.tolist() == stepped


def test_a_condition_that_moves_its_stepper_is_told_so() -> None:
    x = av.tensor(2.0, requires_grad=True)
    s = av.step(x * x)
    s.stepper.stop_when(lambda _: s.stepper.finish())
    s.run()
    assert "finish() was called inside a step of the same stepper" in s.stepper.explanation


def test_who_listens_to_moves_may_make_another() -> None:
    x = av.tensor(2.0, requires_grad=True)
    s = av.step(x * x).stepper
    s.on_move(lambda: s.goto(2) if s.step == 1 else None)
    s.next()
    assert s.step == 2 and x.grad.item() == 4.0


def test_a_move_that_raises_leaves_the_next_one_free() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * x
    handle = y.register_hook(lambda g: 1 / 0)
    s = av.step(y).stepper
    with pytest.raises(ZeroDivisionError):
        s.next()
    handle.remove()
    s.finish()
    assert x.grad.item() == 4.0


def in_child(run: Callable[[], None]) -> int | None:
    """Fork, run it in the child, and give back the child's exit status; None if it hangs."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run()
            status = 0
        finally:
            os._exit(status)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@contextmanager
def a_thread_that_moves() -> Iterator[None]:
    """Inside, another thread is in the middle of a step."""
    x = av.tensor(2.0, requires_grad=True)
    y = x * x
    begun, over = threading.Event(), threading.Event()

    def hook(_: Any) -> None:
        begun.set()
        over.wait()

    y.register_hook(hook)
    thread = threading.Thread(target=av.step(y).finish)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def pass_to_the_end(folder: Path) -> None:
    x = av.tensor(3.0, requires_grad=True)
    y = x * x
    av.save(y, folder / "y.html")
    av.step(y).finish()
    assert x.grad.item() == 6.0


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 warns where threads run


@forks
def test_a_child_steps_though_another_thread_was_moving_at_the_fork(tmp_path: Path) -> None:
    with a_thread_that_moves():
        assert in_child(lambda: pass_to_the_end(tmp_path)) == 0


@forks
def test_ctrl_c_reaches_a_child_of_a_thread_that_forked_while_the_main_thread_moved() -> None:
    """The child's main thread is the one that forked: no handler of a move waits there."""
    found: list[int | None] = []

    def heard() -> None:
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(LIMIT)

    def fork() -> None:
        found.append(in_child(heard))

    with interrupts.whole():
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
    assert found == [0]


@forks
def test_a_hook_may_fork_and_the_step_ends_in_both() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * x
    status: list[int | None] = []
    y.register_hook(lambda _: status.append(in_child(pass_of_its_own)))
    av.step(y).finish()
    assert status == [0] and x.grad.item() == 4.0


def pass_of_its_own() -> None:
    with av.enable_grad():  # a hook runs without
        x = av.tensor(3.0, requires_grad=True)
        av.step(x * x).finish()
    assert x.grad.item() == 6.0
