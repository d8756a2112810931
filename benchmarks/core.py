"""Forward and backward against PyTorch (one thread each), HIPS autograd, MyGrad and micrograd, interleaved in one run.

python -m benchmarks.core                     every workload: medians, and each divided by PyTorch's and by ours
python -m benchmarks.core chain mlp           some of them
python -m benchmarks.core --against main~5    the ratios of these files beside those of a commit
python -m benchmarks.core --memory            bytes per recorded op, provenance, a long training loop

Peers are measured where they are installed (pip install torch autograd mygrad micrograd).
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tracemalloc
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread for NumPy too; it looks once, when it is imported

import autograd_viz as av
from autograd_viz.twin.core.op import call

from .against import compare
from .turns import ROUNDS, Turns, cpu_seconds
from .workloads import WORKLOADS, chain_of

LIBRARIES = ["autograd_viz", "torch", "HIPS autograd", "MyGrad, guard on", "MyGrad, guard off", "micrograd"]


def report(name: str) -> None:
    """One workload as a table: median time, and the median over the rounds of its ratio to PyTorch's and to ours."""
    print(f"{name}: {WORKLOADS[name].__doc__}")
    print(f"    {'':20} {'ms':>9}  {'/ torch':>8}  {'/ ours':>8}")
    turns = Turns(WORKLOADS[name]())
    found = [turns.take() for _ in range(ROUNDS)]
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
    kept = [line for line in call.call_source(p) if not any(mark in line for mark in ("caller", ".arg_", "_code = "))]
    kept = [line.replace("result._made_by = node", "node; result._made_by = None") for line in kept]
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
    parser.add_argument("--against", metavar="REV", help="compare with this commit of git")
    chosen = parser.parse_args()
    if chosen.memory:
        print(f"bytes per recorded op: {bytes_per_op():.0f}")
        print(f"provenance: {provenance_share():.0%} of the forward pass")
        print(f"growth of a training loop of 10,000 steps: {growth():.2f} bytes a step")
        return
    names = chosen.workloads or list(WORKLOADS)
    if chosen.against:
        compare(chosen.against, names)
        return
    for name in names:
        report(name)


if __name__ == "__main__":
    main()
