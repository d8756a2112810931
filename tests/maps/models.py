"""A model with equal blocks, large enough to be drawn as a map."""

from __future__ import annotations

from typing import Any

import autograd_viz as av
from autograd_viz.twin import nn


class Block(nn.Module):
    """A residual block."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        return x + self.second(self.first(x).tanh())


class Net(nn.Module):
    """Blocks between two layers."""

    def __init__(self, blocks: int = 3) -> None:
        super().__init__()
        self.embed = nn.Linear(2, 4)
        self.blocks = nn.ModuleList([Block(4) for _ in range(blocks)])
        self.head = nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss_of(model: Any) -> Any:
    """A loss with the same numbers each time."""
    av.manual_seed(0)
    return model(av.ones(3, 2)).square().mean()


class Towers(nn.Module):
    """Two ways from one embedding that meet in a head, a residual way over both, and blocks in each."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 4), nn.Linear(4, 1)
        self.left, self.right = nn.Sequential(Block(4), nn.Linear(4, 4)), nn.Linear(4, 4)
        self.more = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x: Any) -> Any:
        h = self.embed(x)
        a = self.left(h)
        b = self.more(self.right(h))
        y = self.head(a * b)
        return y + a + h
