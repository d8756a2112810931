"""What `av.time(f)` costs: passes whose parts are timed against passes of which only the whole is, in CPU time.

    python -m benchmarks.timing

Each line: seconds of a pass, the quotient of the two, and the sum of the parts divided by the pass; the least of all rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

import autograd_viz as av
from autograd_viz.sources.pytorch.timing import measure

from .run import encoder, mlp

WORKLOADS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP 4 x 256": (lambda: mlp(256, 4), (256, 256)),
    "encoder 4 x 256, 16 tokens": (lambda: encoder(256, 4), (4, 16, 256)),
    "encoder 4 x 256, 128 tokens": (lambda: encoder(256, 4), (8, 128, 256)),
}


def main() -> None:
    """Measure and print. The clock is that of this thread: other programs on the machine are not in it."""
    torch.set_num_threads(1)
    clock_of = measure.clock_of
    measure.clock_of = lambda tensor: replace(clock_of(tensor), mark=time.thread_time_ns)
    measure.ENOUGH = 20.0
    for name, (make, shape) in WORKLOADS.items():
        print(f"{name}: {_said(make(), torch.randn(shape))}")


def _said(model: nn.Module, x: Any) -> str:
    passes = av.time(lambda: model(x).square().mean()).report.everything()["passes"]
    whole, parted, parts = (sum(min(half[kind]) for half in passes.values()) for kind in ("whole", "parted", "parts"))
    return f"{whole:.4f} s, {parted / whole:.2f} x, parts {parts / whole:.2f} of the pass"


if __name__ == "__main__":
    main()
