"""What the programs of a job share: the programs by name, and a net."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORLD = 4
PROGRAMS: dict[str, Callable[[int, Path], None]] = {}


def program(run: Callable[[int, Path], None]) -> Callable[[int, Path], None]:
    """A program that all ranks run."""
    PROGRAMS[run.__name__] = run
    return run


class Net(nn.Module):
    """Two layers, and one that a rank may leave out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.extra, self.last = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: Any, leave_out: bool = False) -> Any:
        h = self.first(x).tanh()
        return self.last(h if leave_out else self.extra(h)).square().sum()


def data(rank: int) -> Any:
    """What a rank trains on."""
    torch.manual_seed(10 + rank)
    return torch.randn(5, 3)


def made(**options: Any) -> tuple[Any, Any]:
    """A net, and the same under DDP."""
    net = Net()
    return net, DistributedDataParallel(net, **options)
