"""How long pictures of PyTorch graphs take, here and elsewhere, what each shows, and who falls over.

python -m benchmarks.pictures               # everything; each cell of the table in a process of its own
python -m benchmarks.pictures mlp encoder   # some models

Each table says what it compares (`TABLES`): whole graph with whole graph, map with map. Tools that are not installed are left
out: for all of them install `torchviz==0.0.3 torchview torchvista torchlens` and Graphviz's `dot`. Every tool's time ends with
its picture: ours with all that a notebook's cell keeps; torchvista's with a page that a browser has yet to lay out. Tools that
run the forward pass themselves (torchview, torchvista, torchlens) are timed with it; what we record is timed with it too.
`first` is a small drawing, the first of its process.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from tests.torch_models import GPT

NODE = b'class="node"'  # what Graphviz writes for a box
DEEP = 10  # levels of modules, deeper than any model here
SECONDS = 120  # after which a cell is given up
ROUNDS, ENOUGH = 5, 3.0  # a cell is the median of so many rounds, or of as many as begin within so many seconds


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
    for _ in range(17):
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
    "encoder": lambda: (_encoder(), torch.randn(2, 5, 16)),
    "gpt2": lambda: (GPT(12), torch.randint(0, 11, (2, 6))),
    "chain_1000": lambda: (Chain(1000), leaf(2)),
    "chain_10000": lambda: (Chain(10_000), leaf(2)),
}


def _show(net: Any, x: Any, *, recorded: bool = False, collapse: bool | None = None) -> dict[str, Any]:
    import autograd_viz as av

    loss = None if recorded else net(x)
    start = time.perf_counter()
    if recorded:
        with av.record(net):
            loss = net(x)
    figure = av.show(loss, params=net, collapse=collapse)
    figure._repr_mimebundle_()
    end = time.perf_counter()
    document = figure.document
    values = sum(bool(t.value.numbers or t.value.summary) for t in document.tensors)
    form = "as a map" if repr(figure).startswith("<Map") else "in groups" if "collapsed" in repr(figure) else "each drawn"
    shows = f"{len(document.nodes)} nodes, {len(document.ops)} ops, {len(document.tensors)} tensors ({values} with values)"
    return {
        "seconds": end - start,
        "shows": f"{shows}, {form}",
        "bytes": len(figure.svg),
    }


def _map(net: Any, x: Any) -> dict[str, Any]:
    import autograd_viz as av

    start = time.perf_counter()
    with av.record(net):
        loss = net(x)
    shown = av.map(loss, params=net)
    shown._repr_mimebundle_()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "shows": f"{shown!r}, gradients of one backward pass", "bytes": len(shown.svg)}


def _step(net: Any, x: Any) -> dict[str, Any]:
    import autograd_viz as av

    loss = net(x)
    start = time.perf_counter()
    stepper = av.step(loss, params=net)
    seconds = time.perf_counter() - start
    size = len(json.dumps(stepper.picture))
    return {"seconds": seconds, "shows": f"a stepper of {stepper.picture['total']} steps", "bytes": size}


def _torchviz(net: Any, x: Any, *, saved: bool) -> dict[str, Any]:
    from torchviz import make_dot

    loss = net(x)
    start = time.perf_counter()
    dot = make_dot(loss, params=dict(net.named_parameters()), show_attrs=saved, show_saved=saved)
    svg = dot.pipe(format="svg")
    return {"seconds": time.perf_counter() - start, "shows": f"{svg.count(NODE)} boxes", "bytes": len(svg)}


def _torchview(net: Any, x: Any, *, depth: int) -> dict[str, Any]:
    from torchview import draw_graph

    start = time.perf_counter()
    whole = depth == DEEP
    graph = draw_graph(
        net, input_data=x, expand_nested=True, depth=depth, hide_inner_tensors=not whole, hide_module_functions=not whole
    )
    svg = graph.visual_graph.pipe(format="svg")
    return {"seconds": time.perf_counter() - start, "shows": f"{svg.count(NODE)} boxes", "bytes": len(svg)}


def _torchvista(net: Any, x: Any, *, depth: int) -> dict[str, Any]:
    from torchvista import trace_model

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.html"
        start = time.perf_counter()
        trace_model(net, x, collapse_modules_after_depth=depth, export_format="html", export_path=str(path))
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
    "show, whole": partial(_show, collapse=False),
    "recorded and show, whole": partial(_show, recorded=True, collapse=False),
    "show": _show,
    "recorded and show": partial(_show, recorded=True),
    "recorded and map": _map,
    "step": _step,
    "torchviz": partial(_torchviz, saved=False),
    "torchviz with show_saved": partial(_torchviz, saved=True),
    "torchview, whole": partial(_torchview, depth=DEEP),
    "torchview, depth 2": partial(_torchview, depth=2),
    "torchvista, whole": partial(_torchvista, depth=DEEP),
    "torchvista, depth 1": partial(_torchvista, depth=1),
    "torchlens": _torchlens,
}


class Table(NamedTuple):
    """What is compared, how fair that is, and with what."""

    title: str
    note: str
    bases: tuple[str, ...]
    tools: tuple[str, ...]


TABLES = (
    Table(
        "the whole backward graph, every node drawn",
        "torchviz draws nodes and parameters; with show_saved their saved tensors and attributes too. Ours draws both graphs, "
        "with values: compare it with show_saved.",
        ("torchviz", "torchviz with show_saved"),
        ("show, whole",),
    ),
    Table(
        "the whole forward graph, every op drawn, with the forward pass",
        "the others draw no backward graph.",
        (),
        ("recorded and show, whole", "torchview, whole", "torchvista, whole", "torchlens"),
    ),
    Table(
        "a map of modules, with the forward pass",
        "no other draws gradients on one: torchview and torchvista draw the forward pass, for scale.",
        (),
        ("recorded and map", "torchview, depth 2", "torchvista, depth 1"),
    ),
    Table("what is shown first, and a stepper", "nothing to compare with.", (), ("show", "recorded and show", "step")),
)


def cell(model: str, tool: str) -> dict[str, Any]:
    """The median of some rounds, after a small drawing that has loaded the tool."""
    warnings.simplefilter("ignore")
    first = RUNS[tool](*MODELS["mlp" if tool.startswith("torchvista") else "scalar"]())
    found: list[dict[str, Any]] = []
    begin = time.perf_counter()
    while len(found) < ROUNDS and (not found or time.perf_counter() - begin < ENOUGH):
        torch.manual_seed(0)
        found.append(RUNS[tool](*MODELS[model]()))
    return {**sorted(found, key=lambda f: f["seconds"])[len(found) // 2], "rounds": len(found), "first": first["seconds"]}


def in_a_process(model: str, tool: str) -> tuple[float | None, str]:
    """One cell of a table, in a process of its own: seconds (None if it fails), a sentence."""
    command = [sys.executable, "-m", "benchmarks.pictures", "--cell", model, tool]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, f"more than {SECONDS} s"
    if done.returncode:
        error = (done.stderr.strip().splitlines() or [f"killed by signal {-done.returncode}"])[-1]
        return None, f"FAILS: {error[:90]}"
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], f"first {1000 * found['first']:.0f}; {found['shows']}; {found['bytes'] // 1024} kB"


def is_there(tool: str) -> bool:
    """Is it ours, or installed?"""
    package = tool.replace(",", " ").split()[0]
    return not package.startswith("torch") or importlib.util.find_spec(package) is not None


def show_table(table: Table, model: str) -> None:
    """Print one."""
    print(f"### {table.title}\n{table.note}")
    seconds: dict[str, float | None] = {}
    for tool in (*table.bases, *table.tools):
        if not is_there(tool):
            print(f"- {tool}: not installed")
            continue
        seconds[tool], said = in_a_process(model, tool)
        mine = seconds[tool]
        ratios = [f"{mine / base:.2f} of {b}" for b in table.bases if mine and b != tool and (base := seconds.get(b))]
        print(f"- {tool}: {said if mine is None else '; '.join([f'{1000 * mine:.0f} ms', *ratios, said])}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--cell"]:
        print(json.dumps(cell(*sys.argv[2:4])))
        return
    for model in sys.argv[1:] or MODELS:
        print(f"## {model}")
        for table in TABLES:
            show_table(table, model)


if __name__ == "__main__":
    main()
