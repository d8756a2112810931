"""What `av.diff(a, b)` costs: CPU time, divided by that of recording both passes.

    python -m benchmarks.diff

Recording a pass is `av.record(model)` around the forward pass, and `av.step(loss)` to its end. One thread; both take turns,
and the median of their ratios counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

import autograd_viz as av

from .run import encoder, mlp

ROUNDS = 5
WORKLOADS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "MLP 12 x 64": (lambda: mlp(64, 12), (32, 64)),
    "encoder 2 x 64": (lambda: encoder(64, 2), (8, 16, 64)),
    "encoder 12 x 128": (lambda: encoder(128, 12), (8, 32, 128)),
}


def recorded(model: Any, x: Any) -> Any:
    """The loss of a recorded forward pass."""
    with av.record(model):
        return (model(x) ** 2).mean()


def seconds(act: Callable[[], object]) -> float:
    """CPU time of a call."""
    began = time.process_time()
    act()
    return time.process_time() - began


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(f"{'model':18} {'nodes':>6} {'record both':>12} {'diff':>9} {'diff ÷ record':>14}")
    for name, (made, shape) in WORKLOADS.items():
        a, b, x = made(), made(), torch.randn(shape)

        def record_both() -> None:
            for model in (a, b):  # noqa: B023 -- called in this turn
                av.step(recorded(model, x)).finish()  # noqa: B023

        def compare() -> None:
            av.diff(recorded(a, x), recorded(b, x))  # noqa: B023

        rounds = [(seconds(record_both), seconds(compare)) for _ in range(ROUNDS + 1)][1:]
        ratio = statistics.median(d / r for r, d in rounds)
        record, diff = (statistics.median(column) for column in zip(*rounds, strict=True))
        nodes = len(av.step(recorded(a, x)).stepper.document.nodes)
        print(f"{name:18} {nodes:>6} {1000 * record:>9.0f} ms {1000 * diff:>6.0f} ms {ratio:>14.2f}", flush=True)


if __name__ == "__main__":
    main()
