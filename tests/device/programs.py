"""Networks on the device, and what must be true of everything that is done with them there. Prints what it found as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from . import backend  # isort: skip -- before anything runs backward
from torch import nn

import autograd_viz as av
from autograd_viz.sources.pytorch.reading.graph import TorchGraph
from autograd_viz.sources.pytorch.reading.nodes import edge_of, reach
from autograd_viz.sources.pytorch.stepping.node_pass import TorchPass
from autograd_viz.stepper import Stepper

WIDE = 256  # a layer of 256 x 256 has 262,144 bytes


def mlp() -> tuple[nn.Module, Any, Any]:
    """Two layers, dropout, a loss with a class for each row."""
    net = nn.Sequential(nn.Linear(WIDE, WIDE), nn.ReLU(), nn.Dropout(0.3), nn.Linear(WIDE, 3))
    return net, torch.randn(5, WIDE), torch.tensor([0, 1, 2, 0, 1])


def cnn() -> tuple[nn.Module, Any, Any]:
    """Convolutions, batch norm, pooling, a residual addition, a broadcast."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.norm, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, padding=1)
            self.scale, self.head = nn.Parameter(torch.ones(4, 1, 1)), nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            h = self.norm(self.a(x)).relu()
            h = (h + self.b(h)) * self.scale
            return self.head(nn.functional.max_pool2d(h, 2).mean((2, 3)))

    return Net(), torch.randn(3, 1, 8, 8), torch.tensor([0, 1, 2])


class Run:
    """A program after its forward pass on the device; every run has the same numbers."""

    def __init__(self, make: Callable[[], Any], recorded: bool = False) -> None:
        torch.manual_seed(0)
        net, x, y = make()
        self.net, self.x, self.y = net.to(backend.NAME), x.to(backend.NAME).requires_grad_(), y.to(backend.NAME)
        torch.manual_seed(1)
        if recorded:
            with av.record(self.net):
                self.loss = self._forward()
        else:
            self.loss = self._forward()

    def _forward(self) -> Any:
        return nn.functional.cross_entropy(self.net(self.x), self.y)

    @property
    def leaves(self) -> list[Any]:
        return [self.x, *self.net.parameters()]

    def grads(self) -> list[Any]:
        """Their bits, read in the memory of the device."""
        return [None if t.grad is None else backend.on_host(t.grad).tolist() for t in self.leaves]

    def order(self) -> list[int]:
        """The nodes in the order in which PyTorch's engine calls them."""
        ran: list[int] = []
        for i, node in enumerate(reach([edge_of(self.loss)[0]])):
            node.register_prehook(lambda grads, i=i: ran.append(i))
        self.loss.backward()
        return ran


def copied(do: Callable[[], Any]) -> tuple[Any, int, int]:
    """What it returns; how many bytes went to the host in all, and at once."""
    backend.copied.clear()
    result = do()
    return result, sum(backend.copied), max(backend.copied, default=0)


def stepped(make: Callable[[], Any], recorded: bool) -> dict[str, Any]:
    """Steps, back, and forwards again, beside `loss.backward()`."""
    theirs, ours = Run(make), Run(make, recorded)
    order = theirs.order()
    values = [backend.on_host(t).tolist() for t in ours.leaves]
    graph, _, at_once = copied(lambda: TorchGraph([ours.loss], {}))
    stepper = Stepper(graph.document, TorchPass(graph, ours.loss, None, None, False))
    _, _, at_once_in_steps = copied(stepper.finish)
    number, node_of = {n: i for i, n in enumerate(reach([edge_of(ours.loss)[0]]))}, {id: n for n, id in graph.node_ids.items()}
    found = {
        "order": [number[node_of[s.node]] for s in stepper.trace.steps] == order,
        "bits": ours.grads() == theirs.grads(),
        "grads on the device": all(t.grad.device.type == backend.NAME for t in ours.leaves),
        "copied at once": max(at_once, at_once_in_steps),
        "summaries": sum(t.value.summary is not None for t in graph.document.tensors),
    }
    stepper.goto(0)
    found["back"] = ours.grads() == [None] * len(ours.leaves)
    stepper.finish()
    found["again"] = ours.grads() == theirs.grads()
    found["unharmed"] = [backend.on_host(t).tolist() for t in ours.leaves] == values
    return found


def backward_after_stepping(make: Callable[[], Any]) -> bool:
    """The graph is still good."""
    theirs, ours = Run(make), Run(make)
    theirs.loss.backward()
    s = av.step(ours.loss)
    s.finish()
    s.reset()
    ours.loss.backward()
    return ours.grads() == theirs.grads()


def drawn(make: Callable[[], Any]) -> dict[str, Any]:
    """Pictures, files and answers."""
    run = Run(make, recorded=True)
    folder = Path(tempfile.mkdtemp())
    _, total, at_once = copied(lambda: (av.save(run.loss, folder / "a.svg"), av.save(run.loss, folder / "a.json")))
    loss, weight = run.loss, next(run.net.parameters())
    loss.backward(retain_graph=True)
    return {
        "svg": (folder / "a.svg").read_text(encoding="utf-8").startswith("<svg"),
        "json": len(json.loads((folder / "a.json").read_text(encoding="utf-8"))) > 0,
        "bytes": total,
        "at once": at_once,
        "show": repr(av.show(run.loss, params=run.net)),
        "explain": str(av.explain(weight)),
    }


def hooked() -> bool:
    """Hooks, a Function and an edit on the device."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2, a * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g * 2 + h * 3

    def program() -> tuple[Any, Any]:
        x = torch.arange(4.0).to(backend.NAME).requires_grad_()
        y = Double.apply(x)[0]
        y.register_hook(lambda g: g * 2)
        y.retain_grad()
        return x, y, y.sin().sum()

    x, y, loss = program()
    loss.backward()
    a, b, ours = program()
    av.step(ours).finish()
    return all(backend.on_host(m.grad).equal(backend.on_host(n.grad)) for m, n in ((x, a), (y, b)))


def on_a_side_stream(make: Callable[[], Any]) -> dict[str, bool]:
    """The forward pass runs on a stream that nobody waits for: `loss.backward()` would run there too."""
    theirs = Run(make)
    theirs.loss.backward()
    backend.stream.is_side = True
    ours = Run(make)
    backend.stream.is_side = False
    is_late = bool(backend.on_host(ours.loss).isnan())
    s = av.step(ours.loss)
    value = next(t.value.text for t in s.stepper.document.tensors if t.id == s.stepper.document.roots[0])
    s.finish()
    return {"is late": is_late, "value": "nan" not in value, "bits": ours.grads() == theirs.grads()}


def waited_for() -> list[str]:
    """Of one step: what the device was asked for, from the first waiting to the last; and which device was current."""
    seen = []

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(str(backend.module.current))
            return g * 3

    loss = Same.apply(torch.ones((), device=backend.NAME, requires_grad=True))
    s = av.step(loss)
    backend.ran.clear()
    s.next()
    return [name for name in backend.ran if name in ("synchronize", "mul")] + seen


def without(op: str) -> str:
    """What is said of a large tensor when the device lacks an op that a summary needs; the pass goes on."""
    run = Run(mlp)
    backend.missing.add(op)
    try:
        s = av.step(run.loss)
        s.finish()
    finally:
        backend.missing.clear()
    theirs = Run(mlp)
    theirs.loss.backward()
    assert run.grads() == theirs.grads()
    value = next(t.value for t in s.stepper.document.tensors if t.value.shape == (WIDE, WIDE))
    return f"{value.text}, {value.summary}"


def main() -> None:
    """Everything."""
    found = {
        f"{make.__name__} {'recorded' if recorded else 'plain'}": stepped(make, recorded)
        for make in (mlp, cnn)
        for recorded in (False, True)
    }
    found |= {f"{make.__name__} drawn": drawn(make) for make in (mlp, cnn)}
    found |= {f"{make.__name__} after": backward_after_stepping(make) for make in (mlp, cnn)}
    found |= {
        "hooked": hooked(),
        "side stream": on_a_side_stream(mlp),
        "waited for": waited_for(),
        "without a norm": without("linalg_vector_norm"),
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
