"""What looks on at the user's program (modes, classes of tensors) sees nothing of our reading."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import autograd_viz as av  # noqa: E402

pytestmark = pytest.mark.torch
seen: list[str] = []


class Functions(TorchFunctionMode):  # type: ignore[misc]
    """Hears of every function and attribute of PyTorch's."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Ops(TorchDispatchMode):  # type: ignore[misc]
    """Hears of every op."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Listening(torch.Tensor):  # type: ignore[misc]
    """Hears of all that is done to it."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        seen.append(str(func))
        return super().__torch_function__(func, types, args, kwargs or {})


@contextmanager
def the_class() -> Iterator[None]:
    """No mode: the tensors themselves listen."""
    yield


def loss_of(listens: bool) -> Any:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = (x.as_subclass(Listening) if listens else x).requires_grad_()
    y = (x * 2).exp()
    y.retain_grad()
    return (y @ x.t()).sum()


def _saved(loss: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.svg", "a.json", "a.html"):
            av.save(loss, Path(folder) / name)


LOOKS = [av.show, av.step, av.map, av.memory, av.explain]
PASSES = [lambda loss: av.diff(loss, loss), _saved, lambda loss: av.step(loss).next()]  # they run the ops of backward


@pytest.mark.parametrize(
    ("look", "around"), [*product(LOOKS, [Functions, Ops, the_class]), *product(PASSES, [Functions, the_class])]
)
def test_a_look(look: Callable[[Any], Any], around: Any) -> None:
    loss = loss_of(around is the_class)
    seen.clear()
    with around():
        look(loss)
    assert seen == []


def test_a_pass_and_back_run_the_ops_of_backward() -> None:
    with Ops():
        seen.clear()
        loss_of(False).backward()
        expected = set(seen)
        seen.clear()
        s = av.step(loss_of(False))
        s.finish()
        s.goto(0)
    copies = {"aten.clone.default", "aten.new_empty_strided.default", "aten.copy_.default"}  # of a gradient held elsewhere, too
    assert set(seen) <= expected | copies
