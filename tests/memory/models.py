"""Small models whose memory is known."""

from __future__ import annotations

from typing import Any

import autograd_viz as av
from autograd_viz.twin import nn
from autograd_viz.twin.utils.checkpoint import checkpoint


class Block(nn.Module):
    """Two activations of four times the width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        return x + self.second(self.first(x).tanh().exp())


class Net(nn.Module):
    """Three equal blocks. Those in `checkpointed` compute again."""

    def __init__(self, *checkpointed: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(4) for _ in range(3)])
        self.checkpointed = checkpointed

    def forward(self, x: Any) -> Any:
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False) if i in self.checkpointed else block(x)
        return x


def memory_of(model: Any) -> Any:
    x = av.ones(8, 4)
    loss = model(x).square().mean()
    return av.memory(loss)


def leaf(n: int) -> av.Tensor:
    return av.ones(n, requires_grad=True)
