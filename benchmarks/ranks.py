"""What `av.watch` costs a job under DDP, and what it sends: gloo processes on this machine.

    python -m benchmarks.ranks [RANKS ...]     2 and 4 by default

Each rank has one thread. Plain and watched rounds take turns in one run; the median of the ratios of wall time counts.
Processes that share cores wait for each other, which no rank alone does.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import autograd_viz as av
from autograd_viz.pictures.runs.ranks import STEPS

from .run import mlp

ROUNDS = 6


def steps(model: Any, optimizer: Any, x: Any, count: int) -> float:
    """Wall seconds of a step; all ranks begin together."""
    dist.barrier()
    began = time.perf_counter()
    for _ in range(count):
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()
    dist.barrier()
    return (time.perf_counter() - began) / count


def rank_of_job(rank: int, world: int, folder: str) -> None:
    """One process."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model, x = DistributedDataParallel(mlp(256, 4)), torch.randn(256, 256)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    steps(model, optimizer, x, STEPS)
    plain, ratios = [], []
    for _ in range(ROUNDS):
        plain.append(steps(model, optimizer, x, STEPS))
        with av.watch(model) as run:
            steps(model, optimizer, x, 2 * STEPS)  # it weighs its cost
            ratios.append(steps(model, optimizer, x, STEPS) / plain[-1])
    if rank == 0:
        sent = 16 * (len(run.history.rows) + 1) / STEPS
        seconds, ratio = statistics.median(plain), statistics.median(ratios)
        print(f"{world:>5} {1000 * seconds:>12.2f} ms {ratio:>16.3f} {sent:>12.1f} bytes")
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    """Print the table."""
    print(f"{'ranks':>5} {'plain step':>15} {'watched ÷ plain':>16} {'sent a step':>18}")
    fork = multiprocessing.get_context("fork")
    for world in [int(a) for a in sys.argv[1:]] or [2, 4]:
        with tempfile.TemporaryDirectory() as folder:
            ranks = [fork.Process(target=rank_of_job, args=(rank, world, folder)) for rank in range(world)]
            for process in ranks:
                process.start()
            for process in ranks:
                process.join()


if __name__ == "__main__":
    main()
