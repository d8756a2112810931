"""What is true on a GPU: the bits of a stepped pass, the bytes that `av.memory` tells, the cost of `av.watch(model)`.

    python -m benchmarks.gpu

Bits: every leaf's gradient of `av.step(loss).finish()` and of a pass of `loss.backward()` on the same numbers.
Memory: what `av.memory(loss)` tells, divided by what CUDA's allocator holds for the pass, and at its peak.
Watching: seconds of a watched step, divided by those of the plain one, the device being waited for after each 64 steps.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the same bits at every run

import torch
from torch import nn

import autograd_viz as av

from .run import encoder, mlp

ROUNDS, STEPS = 7, 64
Make = Callable[[], nn.Module]
WORKLOADS: dict[str, tuple[Make, tuple[int, ...], Any]] = {
    "MLP 4 x 256, float32": (lambda: mlp(256, 4), (256, 256), None),
    "MLP 8 x 2048, float32": (lambda: mlp(2048, 8), (2048, 2048), None),
    "encoder 4 x 256, float32": (lambda: encoder(256, 4), (16, 128, 256), None),
    "encoder 4 x 256, bfloat16": (lambda: encoder(256, 4), (16, 128, 256), torch.bfloat16),
    "encoder 12 x 768, bfloat16": (lambda: encoder(768, 12), (8, 512, 768), torch.bfloat16),
}


def made(make: Make, shape: tuple[int, ...]) -> tuple[nn.Module, Any]:
    """A model and its input on the device, the same at every call."""
    torch.manual_seed(0)
    return make().cuda(), torch.randn(shape, device="cuda")


def loss_of(model: nn.Module, x: Any, dtype: Any) -> Any:
    """A forward pass, under autocast where a dtype is given."""
    with torch.autocast("cuda", dtype=dtype, enabled=dtype is not None):
        return (model(x) ** 2).mean()


def same_bits(make: Make, shape: tuple[int, ...], dtype: Any) -> tuple[int, int]:
    """How many gradients are the same to the bit, of how many; a step back and forwards again between."""
    theirs, x = made(make, shape)
    loss_of(theirs, x, dtype).backward()
    ours, x = made(make, shape)
    stepper = av.step(loss_of(ours, x, dtype)).stepper
    stepper.finish()
    stepper.goto(3)
    stepper.finish()
    pairs = list(zip(theirs.parameters(), ours.parameters(), strict=True))
    same = [a.grad is not None and b.grad is not None and torch.equal(a.grad, b.grad) for a, b in pairs]
    return sum(same), len(pairs)


def memory_of(make: Make, shape: tuple[int, ...], dtype: Any) -> tuple[float, float, float]:
    """MiB of activations that the allocator holds; what is told, divided by it; and that at the peak of the backward pass."""
    model, x = made(make, shape)
    loss_of(model, x, dtype).backward()  # the libraries' own workspaces are there from now on
    model.zero_grad()
    before = torch.cuda.memory_allocated()
    loss = loss_of(model, x, dtype)
    held = torch.cuda.memory_allocated() - before
    told = av.memory(loss)
    torch.cuda.reset_peak_memory_stats()
    loss.backward()
    peak = torch.cuda.max_memory_allocated() - before
    return held / 2**20, told.activations / held, told.peak / peak


def seconds(model: nn.Module, optimizer: Any, x: Any, dtype: Any) -> float:
    """Of a step, the device included."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, x, dtype).backward()
        optimizer.step()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / STEPS


def watched(make: Make, shape: tuple[int, ...], dtype: Any) -> tuple[float, float, int]:
    """Seconds of a plain step, the ratio, and one step in how many is full."""
    model, x = made(make, shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    seconds(model, optimizer, x, dtype)
    plain, ratios, every = [], [], 0
    for _ in range(ROUNDS):
        plain.append(seconds(model, optimizer, x, dtype))
        with av.watch(model) as run:
            seconds(model, optimizer, x, dtype)  # its first block is full, and weighs its cost
            seconds(model, optimizer, x, dtype)
            ratios.append(seconds(model, optimizer, x, dtype) / plain[-1])
            every = run._watch.steps.every
    return statistics.median(plain), statistics.median(ratios), every


def main() -> None:
    """Print the tables."""
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    told = f"{'same bits':>10} {'activations':>12} {'told ÷ held':>12} {'peak':>6}"
    print(f"{'model':28} {told} {'plain step':>12} {'watched':>8} full")
    for name, (make, shape, dtype) in WORKLOADS.items():
        torch.use_deterministic_algorithms(True, warn_only=True)
        same, of = same_bits(make, shape, dtype)
        torch.use_deterministic_algorithms(False)
        held, ratio, peak = memory_of(make, shape, dtype)
        plain, cost, every = watched(make, shape, dtype)
        first = f"{name:28} {same:>5}/{of:<4} {held:>8.1f} MiB {ratio:>12.3f} {peak:>6.3f}"
        print(f"{first} {1000 * plain:>9.2f} ms {cost:>8.3f} 1/{every}", flush=True)


if __name__ == "__main__":
    main()
