"""How long `show` takes on figure 3, stage by stage, and the core's backward pass beside it for scale."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import autograd_viz as av
from autograd_viz.graph import State
from autograd_viz.pictures.files import png_bytes
from autograd_viz.pictures.layout import layout
from autograd_viz.pictures.render import THEMES, render_svg
from autograd_viz.sources.twin.graph import CoreGraph

ROUNDS = 60


def program() -> dict[str, Any]:
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    c = a * b
    d = av.tensor(4.0, requires_grad=True)
    return {"a": a, "b": b, "c": c, "d": d, "e": c * d}


def timed(act: Callable[[], Any]) -> tuple[float, float]:
    """Median and 95th percentile of `act`, in ms."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def main() -> None:
    names = program()
    document = CoreGraph([names["e"]], names).document
    geometry = layout(document)
    svg = render_svg(document, geometry, State(), THEMES["light"])
    e = names["e"]
    stages: dict[str, Callable[[], Any]] = {
        "program and backward (no picture)": lambda: program()["e"].backward(),
        "document": lambda: CoreGraph([e], names).document,
        "layout": lambda: layout(document),
        "svg": lambda: render_svg(document, geometry, State(), THEMES["light"]),
        "png": lambda: png_bytes(svg, 1.0),
        "show(e)": lambda: av.show(e),
        "show(e), as a cell's output": lambda: av.show(e)._repr_mimebundle_(),
    }
    print(f"{'ms':<40} {'median':>8} {'p95':>8}")
    for name, act in stages.items():
        median, high = timed(act)
        print(f"{name:<40} {median:8.2f} {high:8.2f}")
    print(f"svg: {len(svg) / 1000:.1f} kB")


if __name__ == "__main__":
    main()
