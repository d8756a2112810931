"""Memory under load, in a real kernel: many steppers, and a long training loop that is drawn now and then.

    python -m benchmarks.load                  both
    python -m benchmarks.load --steppers 400   so many, closed and not
    python -m benchmarks.load --steps 50000    of training, drawn every tenth part of it

Each line tells what the process holds (RSS) and what Python does (tracemalloc), in MB. They are displayed inside a function:
the last expression of a cell is kept by IPython itself, in Out.
"""

from __future__ import annotations

import argparse
import gc
import tracemalloc
from pathlib import Path

import nbformat
from IPython.display import display
from nbclient import NotebookClient

import autograd_viz as av

ROOT = Path(__file__).resolve().parent.parent


def line(what: str) -> None:
    """Print what is held now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    print(f"{what:<28} {pages * 4096 / 1e6:8.1f} {tracemalloc.get_traced_memory()[0] / 1e6:10.3f}")


def steppers(count: int, is_closed: bool) -> None:
    """Displayed and stepped to the end, one after the other; nothing refers to them afterwards."""
    said = "closed" if is_closed else "left open"
    for k in range(count):
        if k % 50 == 0:
            line(f"{k} steppers {said}")
        x = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
        s = av.step((x * 2).exp().sum())
        display(s)
        s.finish()
        if is_closed:
            s.close()
    line(f"{count} steppers {said}")


def training(steps: int) -> None:
    """An MLP and Adam; the loss is drawn ten times."""
    av.manual_seed(0)
    model = av.nn.Sequential(av.nn.Linear(2, 8), av.nn.Tanh(), av.nn.Linear(8, 1))
    optimizer = av.optim.Adam(model.parameters(), lr=0.01)
    x, y = av.randn(16, 2), av.randn(16, 1)
    for k in range(steps):
        optimizer.zero_grad()
        loss = av.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if k % (steps // 10) == 0:
            display(av.show(loss))
            line(f"step {k}")
    line(f"step {steps}")


def in_kernel(call: str) -> None:
    """Run one of the functions above in a fresh kernel, and print what it prints."""
    cells = ["import tracemalloc; from benchmarks import load; tracemalloc.start()", f"load.{call}"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(ROOT)}}).execute()
    print(f"\n{'':<28} {'RSS':>8} {'traced':>10}")
    print("".join(o.text for o in notebook.cells[1].outputs if o.output_type == "stream"), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steppers", type=int, default=200)
    parser.add_argument("--steps", type=int, default=10_000)
    chosen = parser.parse_args()
    in_kernel(f"steppers({chosen.steppers}, True)")
    in_kernel(f"steppers({chosen.steppers}, False)")
    in_kernel(f"training({chosen.steps})")


if __name__ == "__main__":
    main()
