"""What goes wrong around a call leaves everything as it was, and the next call works."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

from ..effort import examples


def program() -> tuple[Any, Any]:
    a = av.tensor([1.0, 2.0], requires_grad=True)
    return a, (a * 2).exp().sum()


def works(a: Any, loss: Any) -> None:
    """Nothing has been left behind: it can be drawn, stepped and differentiated."""
    assert av.is_grad_enabled() and a.grad is None
    av.show(loss)
    s = av.step(loss)
    s.goto(2)
    s.goto(0)
    assert a.grad is None
    loss.backward()
    assert a.grad is not None
    np.testing.assert_allclose(a.grad.numpy(), 2 * np.exp([2.0, 4.0]), rtol=1e-6)


VERBS: dict[str, Callable[[Any, Path], Any]] = {
    "show": lambda x, f: av.show(x),
    "step": lambda x, f: av.step(x),
    "svg": lambda x, f: av.save(x, f / "x.svg"),
    "html": lambda x, f: av.save(x, f / "x.html"),
    "explain": lambda x, f: av.explain(x, show=True),
}


@pytest.mark.parametrize("where", [["layout"], ["painted", "render_svg"]], ids=["layout", "svg"])
@pytest.mark.parametrize("verb", VERBS)
def test_no_memory_for_the_picture(verb: str, where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, loss = program()

    def full(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        for name in where:
            patch.setattr(f"autograd_viz.pictures.render.drawing.{name}", full)
        with pytest.raises(MemoryError):
            VERBS[verb](loss, tmp_path)
    assert not list(tmp_path.iterdir())
    works(a, loss)


@pytest.mark.parametrize("suffix", ["svg", "png", "html", "gif", "json", "dot", "mmd"])
def test_the_disk_is_full(suffix: str, tmp_path: Path) -> None:
    """A real limit, not a pretended one: the process may write 2 kB a file."""
    resource = pytest.importorskip("resource")
    import signal

    a, loss = program()
    path = tmp_path / f"x.{suffix}"
    path.write_text("old")
    limits, old = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        with pytest.raises(av.CannotWriteError, match=r"cannot write .*: File too large"):
            av.save(loss, path, duration=0.01)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == [path.name]
    works(a, loss)


def test_no_space_is_said_in_the_systems_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(av.CannotWriteError, match="No space left on device"):
        av.save(program()[1], tmp_path / "x.svg")
    assert not list(tmp_path.iterdir())


class Wrong(av.autograd.Function):
    """A backward that raises as long as it is told to."""

    raises = True

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        if Wrong.raises:
            with av.no_grad():
                raise ZeroDivisionError
        return grad


@pytest.mark.parametrize("verb", ["step", "html"])
def test_a_function_of_the_users_raises(verb: str, tmp_path: Path) -> None:
    a = av.tensor([1.0, 2.0], requires_grad=True)
    loss = (Wrong.apply(a * 2)).exp().sum()
    Wrong.raises = True
    s = av.step(loss)
    with pytest.raises(ZeroDivisionError):
        s.finish() if verb == "step" else av.save(s, tmp_path / "x.html")
    assert a.grad is None and av.is_grad_enabled() and not list(tmp_path.iterdir())
    Wrong.raises = False
    s.finish()
    s.goto(0)
    works(a, loss)


def test_objects_that_cannot_be_asked() -> None:
    """Variables beside the tensors whose every question raises: they are nobody's tensors, and nobody's business."""

    class Refuses:
        def __repr__(self) -> str:
            raise RuntimeError("__repr__")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("__eq__")

        __hash__ = None  # type: ignore[assignment]

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __bool__(self) -> bool:
            raise RuntimeError("__bool__")

    refuses = Refuses()
    some = [refuses, {"x": refuses}]
    a, loss = program()
    av.show(loss)
    assert "grad" in str(av.explain(a))
    for verb in (av.show, av.step, av.explain):
        with pytest.raises((av.NotDrawableError, RuntimeError)):
            verb(refuses)
    assert some
    works(a, loss)


@pytest.mark.torch
def test_a_torch_function_that_raises() -> None:
    torch = pytest.importorskip("torch")

    class Strange(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise RuntimeError("not today")

    x = torch.ones(2, requires_grad=True)
    strange = torch.ones(2).as_subclass(Strange)
    loss = (x * 2).sum()
    av.show(loss)
    av.step(loss).finish()
    assert x.grad.tolist() == [2, 2] and torch.is_grad_enabled() and type(strange) is Strange


@pytest.mark.parametrize(
    "data",
    [
        np.array([np.nan, np.inf, -np.inf, 0.0]), np.zeros(0), np.zeros((0, 3)), np.full((2, 2), np.nan),
        np.broadcast_to(np.float32(1.0), (examples(100_000_000),)),
        np.broadcast_to(np.float64(np.nan), (3, examples(20_000_000))),
    ],
    ids=["special", "empty", "no rows", "all nan", "many elements", "many nan"],
)  # fmt: skip
def test_arrays_that_are_hard_to_describe(data: Any, tmp_path: Path) -> None:
    few = av.tensor(1.0, requires_grad=True)
    big = av.tensor(1.0).expand(data.shape) if data.size > 1000 else av.tensor(data)
    loss = (few * 2 + (big.flatten()[:1].sum() if data.size else 0.0)) * 1
    assert "tensor" in repr(av.show(big)).lower() or av.show(big)
    s = av.step(loss)
    s.finish()
    s.goto(0)
    for suffix in ("svg", "json", "html"):
        av.save(loss, tmp_path / f"x.{suffix}")
    assert few.grad is None
    assert av.load(tmp_path / "x.json").document.roots
    str(av.explain(few, loss))


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises((TypeError, RuntimeError, ValueError)) as error:
        av.tensor(np.array([object(), 1], dtype=object))
    assert "object" in str(error.value)


def test_threads_step_two_graphs() -> None:
    wrong: list[Any] = []

    def walk(k: int) -> None:
        try:
            for _ in range(5):
                a = av.tensor([float(k), 2.0], requires_grad=True)
                loss = (a * a * k).sum()
                s = av.step(loss)
                while s.next() is not None:
                    pass
                s.goto(0)
                assert a.grad is None
                s.finish()
                assert a.grad is not None and a.grad.tolist() == [2.0 * k * k, 4.0 * k]
                assert av.is_grad_enabled()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=walk, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not wrong and not any(t.is_alive() for t in threads)


def test_grad_mode_is_each_threads_own() -> None:
    """One leaves no_grad while another is still inside, and a third has never been there."""
    x = av.tensor(2.0, requires_grad=True)
    entered, both, left = threading.Event(), threading.Event(), threading.Event()
    seen: dict[str, bool] = {}

    def first() -> None:
        with av.no_grad():
            entered.set()
            both.wait(10)
        seen["first, outside"] = (x * 2).requires_grad
        left.set()

    def second() -> None:
        entered.wait(10)
        with av.no_grad():
            both.set()
            left.wait(10)
            seen["second, inside"] = (x * 2).requires_grad
        seen["second, outside"] = (x * 2).requires_grad

    threads = [threading.Thread(target=f) for f in (first, second)]
    for t in threads:
        t.start()
    both.wait(10)
    seen["third"] = (x * 2).requires_grad
    for t in threads:
        t.join(10)
    assert seen == {"first, outside": True, "second, inside": False, "second, outside": True, "third": True}
    assert av.is_grad_enabled()


FORK = """
import os
import autograd_viz as av
a = av.tensor([1.0, 2.0], requires_grad=True)
loss = (a * 2).sum()
s = av.step(loss)
s.next()
child = os.fork()
s.finish()
assert a.grad.tolist() == [2, 2]
av.show(loss)
s.goto(0)
assert a.grad is None
loss.backward()
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_both_sides_of_a_fork_go_on() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
