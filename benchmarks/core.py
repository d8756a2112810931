"""Forward and backward against PyTorch (one thread each), HIPS autograd, MyGrad and micrograd, interleaved in one run.

    python -m benchmarks.core               every workload: medians, and each divided by PyTorch's and by ours
    python -m benchmarks.core chain mlp     some of them
    python -m benchmarks.core --memory      bytes per recorded op, provenance, a long training loop

Peers are measured where they are installed (pip install torch autograd mygrad micrograd).
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread for NumPy too; it looks once, when it is imported

import numpy as np

import autograd_viz as av
from autograd_viz.core.op import call

Run = Callable[[], Any]
ROUNDS = 31
SAMPLE = 0.01  # seconds of CPU time: short runs are repeated within a round
LIBRARIES = ["autograd_viz", "torch", "HIPS autograd", "MyGrad, guard on", "MyGrad, guard off", "micrograd"]


def peer(name: str) -> Any:
    """A library to compare with, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


torch, hips, mygrad, micrograd = peer("torch"), peer("autograd"), peer("mygrad"), peer("micrograd.engine")
if torch is not None:
    torch.set_num_threads(1)


# -- workloads: for each library a function that runs forward and backward once ------------------------------------------


def chain_of(x: Any) -> Any:
    z = x
    for _ in range(500):
        z = z * x + x
    return z


def chain() -> dict[str, Run]:
    """1,000 ops on single numbers, one after the other."""

    def torch_like(t: Any) -> Run:
        x = t.tensor(0.9, requires_grad=True)

        def run() -> None:
            x.grad = None
            chain_of(x).backward()

        return run

    runs = {"autograd_viz": torch_like(av)}
    if torch:
        runs["torch"] = torch_like(torch)
    if hips:
        gradient = hips.grad(chain_of)
        runs["HIPS autograd"] = lambda: gradient(0.9)
    if mygrad:
        for guarded in (True, False):
            runs[f"MyGrad, guard {'on' if guarded else 'off'}"] = mygrad_chain(guarded)
    if micrograd:

        def micro() -> None:
            sys.setrecursionlimit(10_000)  # it walks the graph recursively
            x = micrograd.Value(0.9)
            z = chain_of(x)
            z.backward()

        runs["micrograd"] = micro
    return runs


def mygrad_chain(guarded: bool) -> Run:
    def run() -> None:
        (mygrad.turn_memory_guarding_on if guarded else mygrad.turn_memory_guarding_off)()
        x = mygrad.tensor(0.9)
        chain_of(x).backward()

    return run


def mlp_of(sizes: tuple[int, ...], batch: int, classify: bool) -> dict[str, Run]:
    """A perceptron with relu between its layers, trained on one batch."""
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal((a, b)).astype(np.float32) * 0.3 for a, b in zip(sizes, sizes[1:], strict=False)]
    data = generator.standard_normal((batch, sizes[0])).astype(np.float32)
    labels = generator.integers(0, sizes[-1], batch)

    def torch_like(t: Any) -> Run:
        ws = [t.tensor(w, requires_grad=True) for w in weights]
        bs = [t.zeros(w.shape[1], requires_grad=True) for w in weights]
        x, y = t.tensor(data), t.tensor(labels)

        def run() -> None:
            h = x
            for p in (*ws, *bs):
                p.grad = None
            for k, (w, b) in enumerate(zip(ws, bs, strict=True)):
                h = h @ w + b
                if k < len(ws) - 1:
                    h = h.relu()
            loss = t.nn.functional.cross_entropy(h, y) if classify else (h * h).mean()
            loss.backward()

        return run

    runs = {"autograd_viz": torch_like(av)}
    if torch:
        runs["torch"] = torch_like(torch)
    if hips and not classify:
        runs["HIPS autograd"] = hips_mlp(weights, data)
    if mygrad and not classify:
        runs |= {f"MyGrad, guard {'on' if g else 'off'}": mygrad_mlp(weights, data, g) for g in (True, False)}
    return runs


def hips_mlp(weights: list[Any], data: Any) -> Run:
    anp = importlib.import_module("autograd.numpy")

    def loss(params: Any) -> Any:
        h = data
        for k, (w, b) in enumerate(params):
            h = anp.dot(h, w) + b
            if k < len(params) - 1:
                h = anp.maximum(h, 0)
        return anp.mean(h * h)

    gradient = hips.grad(loss)
    params = [(w, np.zeros(w.shape[1], np.float32)) for w in weights]
    return lambda: gradient(params)


def mygrad_mlp(weights: list[Any], data: Any, guarded: bool) -> Run:
    params = [(mygrad.tensor(w), mygrad.tensor(np.zeros(w.shape[1], np.float32))) for w in weights]

    def run() -> None:
        (mygrad.turn_memory_guarding_on if guarded else mygrad.turn_memory_guarding_off)()
        h: Any = data
        for k, (w, b) in enumerate(params):
            h = mygrad.matmul(h, w) + b
            if k < len(params) - 1:
                h = mygrad.maximum(h, 0)
        (h * h).mean().backward()

    return run


def small_mlp() -> dict[str, Run]:
    """2-16-16-1 on 4 rows."""
    return mlp_of((2, 16, 16, 1), 4, classify=False)


def mlp() -> dict[str, Run]:
    """784-256-128-10 on 64 rows, cross entropy."""
    return mlp_of((784, 256, 128, 10), 64, classify=True)


def models(make: Callable[[Any], tuple[Any, Run]]) -> dict[str, Run]:
    """The same nn model here and in PyTorch."""
    return {name: make(t)[1] for name, t in (("autograd_viz", av), ("torch", torch)) if t is not None}


def cnn() -> dict[str, Run]:
    """conv 1-8, pool, conv 8-16, pool, linear, on 16 pictures of 28 x 28."""

    def make(t: Any) -> tuple[Any, Run]:
        n = t.nn
        model = n.Sequential(
            n.Conv2d(1, 8, 3), n.ReLU(), n.MaxPool2d(2),
            n.Conv2d(8, 16, 3), n.ReLU(), n.MaxPool2d(2),
            n.Flatten(), n.Linear(400, 10),
        )  # fmt: skip
        x, y = t.randn(16, 1, 28, 28), t.arange(16) % 10

        def run() -> None:
            model.zero_grad()
            t.nn.functional.cross_entropy(model(x), y).backward()

        return model, run

    return models(make)


def transformer() -> dict[str, Run]:
    """Two encoder layers, 8 tokens of 32, 4 heads, 4 sentences."""

    def make(t: Any) -> tuple[Any, Run]:
        layer = t.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        model = t.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        x = t.randn(4, 8, 32)

        def run() -> None:
            model.zero_grad()
            model(x).pow(2).mean().backward()

        return model, run

    return models(make)


def second_order() -> dict[str, Run]:
    """The gradient of a gradient of x·x·y, 100 times."""

    def torch_like(t: Any) -> Run:
        x, y = t.tensor(2.0, requires_grad=True), t.tensor(3.0, requires_grad=True)

        def run() -> None:
            for _ in range(100):
                (g,) = t.autograd.grad(x * x * y, x, create_graph=True)
                t.autograd.grad(g, x)

        return run

    runs = {"autograd_viz": torch_like(av)}
    if torch:
        runs["torch"] = torch_like(torch)
    if hips:
        second = hips.grad(hips.grad(lambda x: x * x * 3.0))
        runs["HIPS autograd"] = lambda: [second(2.0) for _ in range(100)]
    return runs


def gradient_penalty() -> dict[str, Run]:
    """A perceptron's loss plus the squared norm of its gradient with respect to the input."""
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal(s).astype(np.float32) * 0.3 for s in ((8, 32), (32, 1))]
    data = generator.standard_normal((16, 8)).astype(np.float32)

    def torch_like(t: Any) -> Run:
        ws = [t.tensor(w, requires_grad=True) for w in weights]

        def run() -> None:
            x = t.tensor(data, requires_grad=True)
            y = (x @ ws[0]).tanh() @ ws[1]
            (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
            for w in ws:
                w.grad = None
            (y.pow(2).mean() + g.pow(2).sum()).backward()

        return run

    return {name: torch_like(t) for name, t in (("autograd_viz", av), ("torch", torch)) if t is not None}


WORKLOADS = {f.__name__: f for f in (chain, small_mlp, mlp, cnn, transformer, second_order, gradient_penalty)}


# -- measuring --------------------------------------------------------------------------------------------------------


def cpu_seconds(run: Run, times: int) -> float:
    """CPU time of one of `times` runs in a row: other programs of the machine have no part in it."""
    gc.collect(1)  # everybody clears away what he himself leaves
    start = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - start) / times


def rounds(runs: dict[str, Run]) -> list[dict[str, float]]:
    """CPU seconds of each, in rounds in which all take their turn, every other time backwards."""
    times = {}
    for name, run in runs.items():
        cpu_seconds(run, 3)  # warm
        times[name] = max(1, round(SAMPLE / cpu_seconds(run, 1)))
    found = []
    for k in range(ROUNDS):
        order = list(runs) if k % 2 else list(reversed(runs))
        found.append({name: cpu_seconds(runs[name], times[name]) for name in order})
    return found


def report(name: str) -> None:
    """One workload as a table: median time, and the median over the rounds of its ratio to PyTorch's and to ours."""
    print(f"{name}: {WORKLOADS[name].__doc__}")
    print(f"    {'':20} {'ms':>9}  {'/ torch':>8}  {'/ ours':>8}")
    found = rounds(WORKLOADS[name]())
    for library in sorted(found[0], key=LIBRARIES.index):
        own = [r[library] for r in found]
        print(f"    {library:20} {statistics.median(own) * 1e3:9.3f}", end="")
        for unit in ("torch", "autograd_viz"):
            ratio = f"{statistics.median(r[library] / r[unit] for r in found):.2f}" if unit in found[0] else ""
            print(f"  {ratio:>8}", end="")
        print()


def bytes_per_op(count: int = 2000) -> float:
    """Memory held by a chain of recorded ops, per op."""
    x = av.tensor(0.9, requires_grad=True)
    z = x * x
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(count):
        z = z * x
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return held / count


def provenance_share() -> float:
    """What remembering op, arguments and line costs: the share of the forward pass of the chain."""
    x = av.tensor(0.9, requires_grad=True)
    whole = {p: p.program for p in (av.mul, av.add)}
    bare = {p: without_provenance(p) for p in whole}
    names = {av.mul: "__mul__", av.add: "__add__"}

    def run(programs: dict[Any, Any]) -> float:
        for p, program in programs.items():
            setattr(av.Tensor, names[p], program)
        return cpu_seconds(lambda: chain_of(x), 3)

    found = [1 - run(bare) / run(whole) for _ in range(4 * ROUNDS)]
    return statistics.median(found)


def without_provenance(p: Any) -> Any:
    """The program of an op that leaves the backward graph and nothing else behind."""
    kept = [line for line in call.call_source(p) if not any(mark in line for mark in ("caller", ".given_", "ours["))]
    kept = [line.replace("result._made_by = ", "") if "node" in line else line for line in kept]
    return call.compiled(p, p.name, [line for line in kept if "untracked" not in line], p.program.__globals__)


def growth(steps: int = 10_000) -> float:
    """Bytes by which a training loop grows, per step, after its first hundred."""
    w, b = av.tensor([0.1, 0.2], requires_grad=True), av.zeros(1, requires_grad=True)
    optimizer = av.optim.SGD([w, b], lr=0.01)
    x, y = av.tensor([[1.0, 2.0], [3.0, 4.0]]), av.tensor([1.0, 2.0])

    def step() -> None:
        optimizer.zero_grad()
        ((x @ w + b - y) ** 2).mean().backward()
        optimizer.step()

    for _ in range(100):
        step()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(steps):
        step()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return grown / steps


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("workloads", nargs="*", choices=[*WORKLOADS, []], help="which; all if none is named")
    parser.add_argument("--memory", action="store_true", help="memory instead of time")
    chosen = parser.parse_args()
    if chosen.memory:
        print(f"bytes per recorded op: {bytes_per_op():.0f}")
        print(f"provenance: {provenance_share():.0%} of the forward pass")
        print(f"growth of a training loop of 10,000 steps: {growth():.2f} bytes a step")
        return
    for name in chosen.workloads or WORKLOADS:
        report(name)


if __name__ == "__main__":
    main()
