"""What a press and a whole pass cost in Python, in CPU time, without a page.

A press is `next` (the node is called), `back`, `next` again (replayed) or `goto`; then state and sentence are read. It is timed
at the middle of a chain, alone and in a widget, at two sizes. A whole pass is `finish` when nobody looks, beside the same pass
with every step read, and beside `backward()`.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_viz as av

SIZES = (500, 30_000)  # nodes
PRESSES = 40
CHAIN, LAYERS, TRANSFORMER = 10_000, 1000, 12  # nodes; layers of an MLP, and of a transformer


def milliseconds(action: Callable[[], Any]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    action()
    return 1000 * (time.process_time() - start)


def chain(nodes: int) -> Any:
    """y = sin(y * x), again and again."""
    x = y = av.tensor(0.5, requires_grad=True)
    for _ in range(nodes // 2):
        y = (y * x).sin()
    return y


def mlp() -> Any:
    """Linear layers of 32 with tanh, written out."""
    rng = np.random.default_rng(0)
    h = av.tensor(rng.normal(size=(4, 32)))
    for _ in range(LAYERS):
        weight = av.tensor(rng.normal(size=(32, 32)) / 6, requires_grad=True)
        h = (h @ weight + av.tensor(np.zeros(32), requires_grad=True)).tanh()
    return h.sum()


def transformer() -> Any:
    """The loss of a GPT in PyTorch; None without PyTorch."""
    try:
        import torch

        from tests.torch_models import GPT
    except ImportError:
        return None
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return GPT(TRANSFORMER, 64, 4, 100)(torch.randint(0, 100, (2, 16)))


def presses(root: Any) -> dict[str, list[float]]:
    """Each kind of press: a stepper alone, and in the widget that shows it."""
    found: dict[str, list[float]] = {}
    for name in ("stepper", "widget"):
        widget = av.step(root, retain_graph=True)
        s: Any = widget if name == "widget" else widget.stepper
        stepper = widget.stepper
        stepper.goto(len(stepper.document.nodes) // 2)
        ways = {"next": s.next, "back": s.back, "replay": s.next, "goto": lambda s=s, at=stepper: s.goto(at.step - 1)}
        for way, press in ways.items():
            found[f"{name}.{way}"] = [
                milliseconds(lambda press=press, at=stepper: (press(), at.state, at.sentence)) for _ in range(PRESSES)
            ]
        widget.close()
        gc.collect()
    return found


def show_presses() -> None:
    """The table of presses."""
    costs = {size: presses(chain(size)) for size in SIZES}
    print(f"ms a press, median of {PRESSES}, at the middle of a chain of sin(y * x)")
    print(f"  {'':<20}" + "".join(f"{size:>8,} nodes" for size in SIZES))
    for way in costs[SIZES[0]]:
        print(f"  {way:<20}" + "".join(f"{statistics.median(costs[size][way]):>14.3f}" for size in SIZES))


def whole_pass(name: str, root: Any) -> None:
    """One line: a whole pass three ways."""

    def read_each(s: Any) -> None:
        while (step := s.next()) is not None:
            _ = step.sentence

    nodes, times = 0, [milliseconds(lambda: root.backward(retain_graph=True))]
    for way in (lambda s: s.finish(), read_each):
        widget = av.step(root, retain_graph=True)
        nodes = len(widget.stepper.document.nodes)
        gc.collect()
        times.append(milliseconds(lambda way=way, s=widget.stepper: way(s)))
        widget.close()
    backward, finish, each = (t / nodes for t in times)
    print(f"  {name:<34}{nodes:>7,}{finish:>9.3f}{each:>11.3f}{backward:>12.4f}")


def show() -> None:
    """Both tables."""
    show_presses()
    print("ms a node of a whole pass")
    print(f"  {'':<34}{'nodes':>7}{'finish':>9}{'each read':>11}{'backward()':>12}")
    whole_pass(f"chain of {CHAIN:,} ops", chain(CHAIN))
    whole_pass(f"MLP of {LAYERS:,} layers", mlp())
    if (loss := transformer()) is not None:
        whole_pass(f"PyTorch: GPT of {TRANSFORMER} layers, width 64", loss)
