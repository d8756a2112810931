"""What it costs to look into compiled code, in CPU time: to open a region, by its export; a map, by that of the eager model.

    python -m benchmarks.regions                 backend "aot_eager"
    python -m benchmarks.regions inductor        another one; its regions are compiled anew

Each line: ms to read the graph with its region open and closed; the difference, divided by the ms of `torch.export.export` of
the same model with the same input; ms of `av.map(loss)`, divided by those for the model without compilation. The least of all
rounds, one thread.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch._functorch.config
from torch import nn

import autograd_viz as av
from autograd_viz.sources.anything import graph_of

from .run import encoder, mlp

ROUNDS = 7
WORKLOADS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP 3 x 64": (lambda: mlp(64, 3), (32, 64)),
    "MLP 4 x 1024": (lambda: mlp(1024, 4), (256, 1024)),
    "encoder 4 x 64": (lambda: encoder(64, 4), (2, 8, 64)),
    "encoder 2 x 512": (lambda: encoder(512, 2), (8, 128, 512)),
}


def least(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """CPU seconds of the quickest call."""
    found = []
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def said(model: nn.Module, x: Any, backend: str) -> str:
    """The line of a model."""
    torch._dynamo.reset()
    eager, compiled = model(x).square().mean(), torch.compile(model, backend=backend, dynamic=False)(x).square().mean()
    av.map(eager), av.map(compiled)  # what is loaded once is loaded
    exported = least(lambda: torch.export.export(model, (x,)), 3)
    opened, closed = (least(lambda opens=opens: graph_of(compiled, {}, True, opens)) for opens in (True, False))
    maps = [least(lambda loss=loss: av.map(loss)) for loss in (compiled, eager)]
    read = f"{opened * 1e3:6.1f} ms open, {closed * 1e3:6.1f} ms closed, {(opened - closed) / exported:.2f} of the export"
    return f"{read}; map {maps[0] * 1e3:6.1f} ms, {maps[0] / maps[1]:.2f} x"


def main() -> None:
    """Print the lines."""
    backend = sys.argv[1] if len(sys.argv) > 1 else "aot_eager"
    torch.set_num_threads(1)
    torch._functorch.config.enable_autograd_cache = False  # what comes from the cache stays one node
    for name, (make, shape) in WORKLOADS.items():
        torch.manual_seed(0)
        print(f"{name:16} {said(make(), torch.randn(shape), backend)}", flush=True)


if __name__ == "__main__":
    main()
