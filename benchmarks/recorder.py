"""What it costs to be watched and to be recorded: time divided by plain PyTorch's, and µs that are added to an op.

    python -m benchmarks.recorder                every workload
    python -m benchmarks.recorder chain encoder  some of them

CPU time, one thread, in rounds in which all take their turn. A step is forward, backward and Adam, all of it inside the
recorder: one `av.watch()` for all steps of a round, an `av.record()` for each step.

glibc is told to keep freed memory. Else it gives memory back when the end of the heap is free, and every page comes with a
fault: 0.1 to 0.5 ms in a step of `mlp`, with and without a recorder, as chance will have it.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import autograd_viz as av

Run = Callable[[], Any]
ROUNDS = 11
SAMPLE = 0.1  # seconds of CPU time that plain PyTorch takes within a round
Around = Callable[[], AbstractContextManager[Any]]
WAYS: dict[str, tuple[Around, Around]] = {  # what is around a round, and around each of its steps
    "plain": (nullcontext, nullcontext),
    "record": (nullcontext, av.record),
}
if hasattr(av, "watch"):
    WAYS["watch"] = (av.watch, nullcontext)
AIMS = {
    "chain": {"watch": 1.6, "record": 4},
    "small_mlp": {"watch": 1.6, "record": 4},
    "mlp": {"watch": 1.08, "record": 1.3},
    "encoder": {"watch": 1.15, "record": 2},
}


# -- workloads --------------------------------------------------------------------------------------------------------


def chain() -> Run:
    """1,000 ops on 8 elements each, one after the other, forward and backward."""
    x = torch.linspace(0.5, 0.9, 8).requires_grad_()

    def run() -> None:
        x.grad = None
        z = x
        for _ in range(500):
            z = z * x + x
        z.backward(torch.ones(8))

    return run


def training(model: Any, x: Any, y: Any) -> Run:
    """A step of Adam on one batch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def run() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return run


def mlp_of(width: int, depth: int, batch: int) -> Run:
    layers = [part for _ in range(depth) for part in (nn.Linear(width, width), nn.ReLU())]
    return training(nn.Sequential(*layers), torch.randn(batch, width), torch.randn(batch, width))


def small_mlp() -> Run:
    """A step of 3 layers of 64, batch 32."""
    return mlp_of(64, 3, 32)


def mlp() -> Run:
    """A step of 4 layers of 512, batch 64."""
    return mlp_of(512, 4, 64)


def encoder() -> Run:
    """A step of nn.TransformerEncoder: 2 layers, 128 wide, 4 heads, 8 sentences of 32 tokens."""
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return training(model, torch.randn(8, 32, 128), torch.randn(8, 32, 128))


WORKLOADS = {f.__name__: f for f in (chain, small_mlp, mlp, encoder)}


# -- measuring --------------------------------------------------------------------------------------------------------


class Counter(TorchDispatchMode):
    """Counts ops, but for those of a backward pass."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += torch._C._current_graph_task_id() == -1
        return func(*args, **(kwargs or {}))


def cpu_seconds(run: Run, way: str, times: int) -> float:
    """CPU time of one of `times` runs in a row: other programs of the machine have no part in it."""
    round_of, step_of = WAYS[way]
    with round_of():
        gc.collect(1)  # everybody clears away what he himself leaves
        start = time.process_time()
        for _ in range(times):
            with step_of():
                run()
        return (time.process_time() - start) / times


def rounds(run: Run) -> list[dict[str, float]]:
    """CPU seconds of a step by the way it is run, in rounds, every other time backwards."""
    for way in WAYS:
        cpu_seconds(run, way, 3)  # warm
    times = max(1, round(SAMPLE / cpu_seconds(run, "plain", 3)))
    found = []
    for k in range(ROUNDS):
        order = list(WAYS) if k % 2 else list(reversed(WAYS))
        found.append({way: cpu_seconds(run, way, times) for way in order})
    return found


def report(name: str) -> None:
    """One workload: median time, median over the rounds of its ratio to plain PyTorch's, µs added to an op."""
    run = WORKLOADS[name]()
    with Counter() as counter:
        run()
    found = rounds(run)
    plain = statistics.median(r["plain"] for r in found)
    print(f"{name}: {WORKLOADS[name].__doc__} {counter.count} ops, {plain * 1e3:.2f} ms.")
    for way in ("watch", "record"):
        if way in WAYS:
            ratio = statistics.median(r[way] / r["plain"] for r in found)
            added = statistics.median(r[way] - r["plain"] for r in found) / counter.count * 1e6
            print(f"    {way:8} {ratio:6.2f} (aim {AIMS[name][way]:4}) {added:8.1f} µs an op")


def keep_freed_memory() -> None:
    """No page faults in the middle of a measurement; other C libraries are left as they are."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        for parameter in (-1, -2, -3):  # M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD
            libc.mallopt(parameter, 64 * 2**20 if parameter == -2 else 2**30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", choices=[*WORKLOADS, []], help="which; all if none is named")
    keep_freed_memory()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for name in parser.parse_args().workloads or WORKLOADS:
        report(name)


if __name__ == "__main__":
    main()
