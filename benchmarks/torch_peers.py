"""Drawing PyTorch graphs: how long it takes here and elsewhere, what each shows, and who falls over.

python -m benchmarks.torch_peers            # everything; each cell in a process of its own
python -m benchmarks.torch_peers mlp ours   # one cell

Needs `torchviz==0.0.3 torchview torchvista torchlens` and Graphviz's `dot` for the columns that are to be filled.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.torch_models import GPT

NODE = b'class="node"'  # what Graphviz writes for a box
SECONDS = 120  # after which a cell is given up
TOOLS = ("ours", "ours_recorded", "torchviz", "torchview", "torchvista", "torchlens")


class Chain(nn.Module):
    """So many ops, one after the other."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: Any) -> Any:  # noqa: D102
        for _ in range(self.count):
            x = x.sin()
        return x.sum()


class Scalar(nn.Module):
    """(x * 2 + 1).tanh()"""

    def forward(self, x: Any) -> Any:  # noqa: D102
        return (x * 2 + 1).tanh()


class Summed(nn.Module):
    """A network with a number at its end."""

    def __init__(self, *parts: Any) -> None:
        super().__init__()
        self.parts = nn.Sequential(*parts)

    def forward(self, x: Any) -> Any:  # noqa: D102
        return self.parts(x).square().mean()


def _cnn() -> Any:
    parts: list[Any] = [nn.Conv2d(3, 8, 3, padding=1)]
    for _ in range(3):
        parts += [nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)]
    return Summed(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))


def _encoder() -> Any:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return Summed(nn.TransformerEncoder(layer, 6, enable_nested_tensor=False))


class Chunked(nn.Module):
    """A node with an output that nobody uses."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 6)

    def forward(self, x: Any) -> Any:  # noqa: D102
        return self.linear(x).chunk(3, dim=-1)[1].sum()


def leaf(*shape: int) -> Any:
    """A random leaf."""
    return torch.randn(*shape, requires_grad=True)


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "scalar": lambda: (Scalar(), torch.tensor(0.5, requires_grad=True)),
    "mlp": lambda: (Summed(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(5, 4)),
    "cnn": lambda: (_cnn(), torch.randn(2, 3, 8, 8)),
    "chunk": lambda: (Chunked(), torch.randn(2, 4)),
    "encoder6": lambda: (_encoder(), torch.randn(2, 5, 16)),
    "gpt2_12": lambda: (GPT(12), torch.randint(0, 11, (2, 6))),
    "chain1000": lambda: (Chain(1000), leaf(2)),
}


def _ours(net: Any, x: Any, recorded: bool = False) -> dict[str, Any]:
    import autograd_viz as av
    from autograd_viz.graph.trace import State
    from autograd_viz.layout import layout
    from autograd_viz.render import render_svg, theme_named
    from autograd_viz.views import graph_of

    if recorded:
        with av.record(net):
            loss = net(x)
    else:
        loss = net(x)
    times = [time.perf_counter()]
    document = graph_of(loss, {"loss": loss, "x": x}, net).document
    times.append(time.perf_counter())
    geometry = layout(document)
    times.append(time.perf_counter())
    svg = render_svg(document, geometry, State(), theme_named("light"))
    times.append(time.perf_counter())
    parts = dict(zip(("document", "layout", "svg"), (b - a for a, b in zip(times, times[1:], strict=False)), strict=True))
    values = sum(bool(t.value.numbers or t.value.summary) for t in document.tensors)
    shows = f"{len(document.nodes)} nodes, {len(document.ops)} ops, {len(document.tensors)} tensors ({values} with values)"
    return {"seconds": times[-1] - times[0], "parts": parts, "shows": shows, "bytes": len(svg)}


def _torchviz(net: Any, x: Any) -> dict[str, Any]:
    from torchviz import make_dot

    loss = net(x)
    start = time.perf_counter()
    dot = make_dot(loss, params=dict(net.named_parameters()), show_attrs=True, show_saved=True)
    svg = dot.pipe(format="svg")
    return {"seconds": time.perf_counter() - start, "shows": f"{svg.count(NODE)} boxes", "bytes": len(svg)}


def _torchview(net: Any, x: Any) -> dict[str, Any]:
    from torchview import draw_graph

    start = time.perf_counter()
    graph = draw_graph(net, input_data=x, expand_nested=True, depth=10, hide_inner_tensors=False, hide_module_functions=False)
    svg = graph.visual_graph.pipe(format="svg")
    return {"seconds": time.perf_counter() - start, "shows": f"{svg.count(NODE)} boxes", "bytes": len(svg)}


def _torchvista(net: Any, x: Any) -> dict[str, Any]:
    from torchvista import trace_model

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.html"
        start = time.perf_counter()
        trace_model(net, x, collapse_modules_after_depth=10, export_format="html", export_path=str(path))
        seconds = time.perf_counter() - start
        html = next(Path(folder).iterdir()).read_bytes()
    return {"seconds": seconds, "shows": "forward ops as HTML, laid out by the browser (not timed)", "bytes": len(html)}


def _torchlens(net: Any, x: Any) -> dict[str, Any]:
    import torchlens

    start = time.perf_counter()
    trace = torchlens.trace(net, x)
    with tempfile.TemporaryDirectory() as folder:
        trace.draw(vis_outpath=str(Path(folder) / "graph"), vis_fileformat="svg", vis_save_only=True)
        seconds = time.perf_counter() - start
        svg = next(p for p in Path(folder).iterdir() if p.suffix == ".svg").read_bytes()
    return {"seconds": seconds, "shows": f"{svg.count(NODE)} boxes", "bytes": len(svg)}


RUNS: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "ours": _ours,
    "ours_recorded": lambda net, x: _ours(net, x, recorded=True),
    "torchviz": _torchviz,
    "torchview": _torchview,
    "torchvista": _torchvista,
    "torchlens": _torchlens,
}


def cell(model: str, tool: str) -> dict[str, Any]:
    """One drawing, after a small one that has loaded the tool."""
    warnings.simplefilter("ignore")
    RUNS[tool](*MODELS["scalar"]()) if tool != "torchvista" else RUNS[tool](*MODELS["mlp"]())
    torch.manual_seed(0)
    return RUNS[tool](*MODELS[model]())


def in_a_process(model: str, tool: str) -> str:
    """One drawing in a process of its own, as a cell of the table."""
    command = [sys.executable, "-m", "benchmarks.torch_peers", model, tool]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"more than {SECONDS} s"
    if done.returncode:
        error = (done.stderr.strip().splitlines() or [f"killed by signal {-done.returncode}"])[-1]
        return f"FAILS: {error[:90]}"
    found = json.loads(done.stdout.splitlines()[-1])
    parts = ", ".join(f"{name} {1000 * s:.0f}" for name, s in found.get("parts", {}).items())
    return f"{1000 * found['seconds']:.0f} ms{f' ({parts})' if parts else ''}; {found['shows']}; {found['bytes'] // 1024} kB"


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(cell(*sys.argv[1:])))
        return
    for model in sys.argv[1:] or MODELS:
        print(f"## {model}")
        for tool in TOOLS:
            print(f"- {tool}: {in_a_process(model, tool)}", flush=True)


if __name__ == "__main__":
    main()
