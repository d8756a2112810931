"""What a checkpoint would save is what it saves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.twin import nn
from autograd_viz.twin.utils.checkpoint import checkpoint

from .models import Net, leaf, memory_of


@pytest.mark.parametrize("which", [(0,), (1,), (2,), (0, 1, 2)])
def test_what_a_checkpoint_would_save_is_what_it_saves(which: tuple[int, ...]) -> None:
    plain = memory_of(Net())
    name = "blocks.0 … blocks.2" if len(which) == 3 else f"blocks.{which[0]}"
    (promised,) = [row for row in plain.table("checkpoint") if row["around"] == name]
    done = memory_of(Net(*which))
    assert plain.activations - done.activations == promised["saves"]
    assert done.peak == promised["peak"]


class Twice(nn.Module):
    """One block that is called twice."""

    def __init__(self, is_checkpointed: bool) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4), nn.Tanh())
        self.is_checkpointed = is_checkpointed

    def forward(self, x: Any) -> Any:
        for _ in range(2):
            again = self.is_checkpointed
            x = checkpoint(self.block, x, use_reentrant=False, preserve_rng_state=False) if again else self.block(x)
            x = x + 1.0
        return x


def test_a_module_that_is_called_twice_keeps_the_input_of_each_call() -> None:
    plain, done = memory_of(Twice(False)), memory_of(Twice(True))
    (promised,) = [row for row in plain.table("checkpoint") if row["around"] == "block"]
    assert plain.activations - done.activations == promised["saves"] > 0


class Around(nn.Module):
    """Two activations in a part, and something after it."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Sequential(nn.Tanh(), nn.Tanh())

    def forward(self, x: Any, after: Callable[[Any], Any]) -> Any:
        return after(self.part(x))


def test_what_nodes_outside_or_variables_hold_is_not_saved() -> None:
    model, x, kept = Around(), leaf(8), []

    def saves(loss: Any, held: Any) -> list[int]:
        return [row["saves"] for row in av.memory(loss).table("checkpoint") if row["around"] == "part"]

    assert saves(model(x, av.sum), kept) == [64]
    assert saves(model(x, lambda y: y.square().sum()), kept) == [32]  # the square has saved the result of the second
    assert saves(model(x, lambda y: kept.append(y) or y.sum()), kept) == [32]
