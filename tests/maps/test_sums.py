"""An arrow that stands for several uses of a tensor, which has others too: its number is the gradient of the tensor."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.flow import Flow
from autograd_viz.pictures.maps.plan import Plan
from autograd_viz.sources.anything import graph_of
from autograd_viz.verbs.save import subject_of

torch = pytest.importorskip("torch")
nn: Any = torch.nn
pytestmark = pytest.mark.torch


class Vae(nn.Module):  # type: ignore[misc]
    """What it draws, and its loss, use mean and variance; the loss uses them twice."""

    def __init__(self) -> None:
        super().__init__()
        self.mean, self.spread, self.back = nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(2, 4)

    def forward(self, x: Any) -> Any:
        m, v = self.kept = self.mean(x), self.spread(x)
        y = self.back(m + torch.exp(v / 2))
        return (y - x).square().sum() + (m * m + v.exp() - v).sum()


class Gated(nn.Module):  # type: ignore[misc]
    """A residual way beside a part that uses its input twice."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Gate()
        self.first = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        h = self.first(x)
        return (h + self.inner(h)).square().sum()


class Gate(nn.Module):  # type: ignore[misc]
    """Two uses of one input."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, h: Any) -> Any:
        return self.a(h) * self.b(h).sigmoid()


class Heads(nn.Module):  # type: ignore[misc]
    """Boxes that one loss takes twice, and another once."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.boxes, self.loss = nn.Linear(4, 4), nn.Linear(4, 4), Distance()

    def forward(self, x: Any) -> Any:
        p = self.boxes(self.trunk(x)).sigmoid()
        return self.loss(p) + p.prod(-1).sum()


class Distance(nn.Module):  # type: ignore[misc]
    """Two terms of one prediction."""

    def forward(self, p: Any) -> Any:
        return (p - 0.3).abs().mean() + torch.minimum(p, torch.full_like(p, 0.2)).sum()


class Dense(nn.Module):  # type: ignore[misc]
    """Each part takes all before it."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(Gate() for _ in range(3))

    def forward(self, x: Any) -> Any:
        h = x * 1.0
        for part in self.parts:
            h = h + part(h)
        return h.square().sum()


class Leaf(nn.Module):  # type: ignore[misc]
    """An input that requires grad, with several uses in one part."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    def forward(self, x: Any) -> Any:
        x.requires_grad_()
        return (self.gate(x) + x).square().sum()


def sums_of(model: Any) -> tuple[Plan, Any, dict[str, tuple[Flow, float | None]]]:
    """The map of a model, its graph, and of each arrow with a sum the number on it."""
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    with av.record(model):
        loss = model(x)
    subject = subject_of(loss, {"x": x, "model": model}, None, is_outline=True)
    plan = Plan(subject.document)
    known = subject.norms(plan.asked)
    flows = [f for frame in plan.places.frames.values() for f in frame.flows if f.is_sum]
    return plan, graph_of(loss, {"x": x, "model": model}), {f.id: (f, f.gradient(known)) for f in flows}


@pytest.mark.parametrize("model", [Vae, Gated, Heads, Dense, Leaf])
def test_the_number_on_it_is_what_hooks_of_its_tensors_are_given(model: Any) -> None:
    plan, graph, sums = sums_of(net := model())
    assert sums
    ids = {(t.grad_fn, t.output_nr) if t.grad_fn else (t.id, 0): t.id for t in plan.document.tensors}
    seen: dict[str, float] = {}
    for id, t in graph.tensors.items():
        if t is not None and t.requires_grad:
            t.register_hook(lambda g, at=id: seen.__setitem__(at, g.norm().item()))
    graph.roots[0].backward()
    assert net is not None  # it keeps what hooks are on
    for flow, norm in sums.values():
        assert norm == pytest.approx(math.hypot(*(seen[ids[node, k]] for node, _, k in flow.places)), rel=1e-5)


def test_it_is_told_from_the_gradient_of_one_way(tmp_path: Path) -> None:
    model = Gated()
    with av.record(model):
        loss = model(torch.ones(3, 4))
    m = av.map(loss)
    said = [w for w in m.svg.split("<") if "Σ" in w]
    assert [w for w in said if "Σ: all its uses" in w]
    assert len(said) == 2
    av.save(m, tmp_path / "m.json")
    arrows = json.loads((tmp_path / "m.json").read_text())["arrows"]
    assert [a["is_sum"] for a in arrows].count(True) == 1


def test_where_no_tensor_has_other_uses_nothing_is_said_of_sums() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    with av.record(model):
        loss = model(torch.ones(3, 4)).sum()
    assert "Σ" not in av.map(loss).svg
