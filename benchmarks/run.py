"""What it costs to watch a training run: CPU time of a step under `av.watch(model)`, divided by that of the plain step.

The second ratio is that of `keep=0`, which keeps nothing of a pass: the last one cannot be opened. The third is that of a bare
hook: it reads the norm of each gradient, copies each parameter, and does nothing else. A watch that stops at nan and opens the
last pass does both in every step. The last ratio is that of the first 100 steps of a watch, with its beginning.

    python -m benchmarks.run            the ratios
    python -m benchmarks.run memory     100,000 steps of a small model: resident memory after 10,000 and at the end

One thread; plain and watched take turns, and the median of their ratios counts. A watch has weighed its own cost before. In a
small model one step in 128 is full, so 128 are measured. Such a model has more rounds, because its ratios differ more.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

import autograd_viz as av

PLAIN, WATCHED, FIRST = 64, 128, 100  # steps
LEAST, MOST = 9, 45  # rounds
SECONDS = 60.0  # for a model, if these rounds allow


def mlp(width: int, depth: int) -> nn.Module:
    """Linear and Tanh, so many times, and a last layer."""
    return nn.Sequential(
        *(part for _ in range(depth) for part in (nn.Linear(width, width), nn.Tanh())), nn.Linear(width, width)
    )


def encoder(width: int, depth: int) -> nn.Module:
    """A transformer's encoder."""
    block = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(block, depth, enable_nested_tensor=False)


WORKLOADS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "MLP 4 x 128": (lambda: mlp(128, 4), (64, 128)),
    "MLP 4 x 128, 128": (lambda: mlp(128, 4), (128, 128)),
    "MLP 4 x 256": (lambda: mlp(256, 4), (256, 256)),
    "encoder 2 x 64": (lambda: encoder(64, 2), (8, 16, 64)),
    "encoder 4 x 128": (lambda: encoder(128, 4), (8, 32, 128)),
    "nanoGPT on a CPU": (lambda: encoder(128, 4), (12, 64, 128)),  # the sizes that its README names for one
}


def steps(model: Any, optimizer: Any, x: Any, count: int) -> float:
    """CPU seconds of a step."""
    began = time.process_time()
    for _ in range(count):
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()
    return (time.process_time() - began) / count


@contextmanager
def watched(model: Any, optimizer: Any, x: Any, keep: int | str) -> Iterator[None]:
    """A watch that has weighed its cost."""
    with av.watch(model, keep=keep):
        steps(model, optimizer, x, WATCHED)
        yield


@contextmanager
def bare(model: Any, optimizer: Any, x: Any) -> Iterator[None]:
    """A hook that reads norms and copies parameters."""
    live = list(model.parameters())
    copies = [p.detach().clone() for p in live]

    @torch.no_grad()
    def look(*_: Any) -> None:
        norms = torch._foreach_norm([p.grad for p in live])
        torch._foreach_copy_(copies, live)
        for norm in norms:
            norm.item()

    handle = optimizer.register_step_pre_hook(look)
    yield
    handle.remove()


def first_steps(model: Any, optimizer: Any, x: Any) -> float:
    """CPU seconds of a step among the first that are watched."""
    began = time.process_time()
    with av.watch(model):
        steps(model, optimizer, x, FIRST)
    return (time.process_time() - began) / FIRST


def ratios_of(model: Any, x: Any) -> tuple[float, list[float]]:
    """Seconds of a plain step; the ratios of one that is watched, watched with `keep=0`, with a bare hook; the first."""
    given = model, torch.optim.Adam(model.parameters(), lr=1e-4), x
    rounds = int(SECONDS / (3 * (PLAIN + 2 * WATCHED) * steps(*given, PLAIN)))
    plain, ratios = list[float](), [list[float]() for _ in range(4)]
    for _ in range(min(max(rounds, LEAST), MOST)):
        for watch, ratio in zip((watched(*given, "256 MB"), watched(*given, 0), bare(*given)), ratios, strict=False):
            plain.append(steps(*given, PLAIN))
            with watch:
                ratio.append(steps(*given, WATCHED) / plain[-1])
        ratios[3].append(first_steps(*given) / plain[-1])
    return statistics.median(plain), [statistics.median(ratio) for ratio in ratios]


def memory() -> None:
    """Resident memory of a long run."""
    model = mlp(8, 2)
    optimizer = torch.optim.Adam(model.parameters())
    with av.watch(model) as run:
        for part in (10_000, 90_000):
            steps(model, optimizer, torch.ones(4, 8), part)
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{run._watch.count + 1:>8,} steps: {used:.1f} MiB at most")


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if "memory" in sys.argv[1:]:
        memory()
        return
    columns = "watched ÷ plain", "keep=0 ÷ plain", "bare ÷ plain", "first ÷ plain"
    print(f"{'model':18} {'plain step':>12}", *(f"{column:>16}" for column in columns))
    for name, (made, shape) in WORKLOADS.items():
        seconds, ratios = ratios_of(made(), torch.randn(shape))
        print(f"{name:18} {1000 * seconds:>9.2f} ms", *(f"{ratio:>16.3f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
