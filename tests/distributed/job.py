"""What the programs of a job share: the programs by name, a net, and how ranks start."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # DDP and FSDP import it in each rank
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import autograd_viz as av

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


def forked(main: Callable[[int, Path], None], world: int, folder: Path) -> None:
    """Run main in each rank; what the verbs and PyTorch's own wrappers import is there before they fork."""
    torch.set_num_threads(1)
    av.gather(torch.ones(1, requires_grad=True).sum())
    gc.freeze()  # what is imported need not be walked through at every look for a tensor's hooks
    fork = multiprocessing.get_context("fork")
    ranks = [fork.Process(target=main, args=(rank, folder)) for rank in range(world)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
