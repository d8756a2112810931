"""A graph that Python has walked is freed without an overflow of the stack, and without a delay beyond the next collection."""

from __future__ import annotations

import gc
import subprocess
import weakref

import pytest

torch = pytest.importorskip("torch")

from autograd_viz.sources.pytorch.reading import found_graph  # noqa: E402
from autograd_viz.sources.pytorch.reading.graph import TorchGraph  # noqa: E402
from autograd_viz.sources.pytorch.reading.nodes import reach  # noqa: E402

from .. import fresh  # noqa: E402

pytestmark = pytest.mark.torch
PROGRAM = """
import gc, torch
from autograd_viz.sources.pytorch.reading.found_graph import make_freeable
from autograd_viz.sources.pytorch.reading.nodes import reach
y = torch.ones(1, requires_grad=True)
for _ in range(100_000):
    y = y.sin()
nodes = reach([y.grad_fn])
make_freeable(nodes)
del nodes
del y
gc.collect()
print("freed")
"""


class _Alive:
    """Hangs on a node, and dies with it."""


def test_a_hundred_thousand_nodes_in_a_row() -> None:
    done = subprocess.run([*fresh.python(), "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout == "freed\n", done.stderr


def test_nothing_is_left_after_a_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_graph, "STRETCH", 10)
    y = torch.ones(1, requires_grad=True)
    for _ in range(100):
        y = y.sin()
    TorchGraph([y], {})
    nodes = reach([y.grad_fn])
    kept = [
        n.metadata[found_graph.KEEPER]
        for n in nodes
        if not n.name().endswith("AccumulateGrad") and found_graph.KEEPER in n.metadata
    ]
    assert len(kept) == 10
    nodes[0].metadata["alive"] = alive = _Alive()
    gone = weakref.ref(alive)
    del alive, kept, nodes, y
    gc.collect()
    assert gone() is None
    assert not found_graph._left
    assert found_graph._free not in gc.callbacks
