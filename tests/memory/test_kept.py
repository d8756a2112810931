"""A memory says which variable keeps graphs of earlier passes, and at which line."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av


def losses_of(lib: Any, passes: int, keep: Any) -> tuple[list[Any], Any]:
    """Losses of some passes, and that of a pass to come."""
    w, losses = lib.ones(4, requires_grad=True), []
    for _ in range(passes):
        loss = (w * w).sum()
        loss.backward()
        losses.append(keep(loss))
    return losses, (w * w).sum()


def kept(lib: Any, passes: int, keep: Any = lambda loss: loss) -> tuple[Any, str]:
    losses, loss = losses_of(lib, passes, keep)
    assert len(losses) == passes
    memory = av.memory(loss)
    assert memory.to_dict()["kept"] == memory.kept
    return memory, " ".join(memory.kept)


def test_a_list_of_losses_is_named_with_its_line() -> None:
    memory, said = kept(av, 3)
    line = losses_of.__code__.co_firstlineno + 6
    assert said.startswith(f"losses keeps the graphs of 3 passes or more (test_kept.py, line {line}")
    assert repr(memory).endswith(f"; {said[:-1]}>")
    assert "losses keeps the graphs" in memory.svg


@pytest.mark.parametrize(
    "passes, keep", [(1, lambda loss: loss), (3, lambda loss: loss.item()), (3, lambda loss: loss.detach())]
)
def test_one_pass_and_numbers_are_not_named(passes: int, keep: Any) -> None:
    assert kept(av, passes, keep)[1] == ""


@pytest.mark.torch
def test_under_watch_so_are_losses_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    assert kept(torch, 3)[1] == ""  # nobody has seen those passes
    with av.watch():
        assert kept(torch, 3)[1].startswith("losses keeps the graphs of 3 passes or more")
        assert kept(torch, 3, lambda loss: loss.detach())[1] == ""
