"""The norms of a pass that runs as a whole are those that its steps tell, and nothing of the user's is touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.sources.anything import graph_of, norms_of, pass_of
from autograd_viz.sources.shared.stepping.norms import Place, norms_by_steps
from autograd_viz.sources.twin.norms import core_norms


def by_steps(root: Any, gradient: Any = None) -> dict[Place, float]:
    return norms_by_steps(pass_of(graph_of(root, {}), root, gradient, True, False), None)


def assert_same(found: dict[Place, float], expected: dict[Place, float]) -> None:
    assert found.keys() == expected.keys()
    for place, n in expected.items():
        assert math.isclose(found[place], n, rel_tol=1e-5, abs_tol=1e-30) or (math.isnan(n) and math.isnan(found[place])), place


def core_programs() -> dict[str, Callable[[], Any]]:
    def deep() -> Any:
        net = av.nn.Sequential(*(m for _ in range(4) for m in (av.nn.Linear(9, 9), av.nn.Tanh(), av.nn.LayerNorm(9))))
        return (net(av.randn(20, 9)) + net(av.randn(20, 9)) * 2).square().mean()

    def broadcast() -> Any:
        a, b = av.randn(3, 1, requires_grad=True), av.randn(4, requires_grad=True, dtype=av.float64)
        c = (a * b).split(2, dim=1)
        return c[0].exp().sum()

    def not_finite() -> Any:
        x = av.tensor([0.0, 1.0, -1.0], requires_grad=True)
        return (x.log() + x.sqrt() * x).sum()

    def huge() -> Any:
        x = av.full((70,), 1e200, dtype=av.float64, requires_grad=True)
        return (x * x * 1e-190).sum()

    def leaf() -> Any:
        return av.tensor(2.0, requires_grad=True)

    def tripled(leaf: Any) -> None:
        leaf.grad.mul_(3)

    def hooked() -> Any:
        x = av.randn(5, requires_grad=True)
        y = x.exp()
        y.register_hook(lambda g: g * 2)
        x.register_post_accumulate_grad_hook(tripled)
        y.retain_grad()
        return (y * x).sum()

    return {f.__name__: f for f in (deep, broadcast, not_finite, huge, leaf, hooked)}


@pytest.mark.parametrize("name", core_programs())
def test_norms_of_the_core_are_those_of_its_steps(name: str) -> None:
    root = core_programs()[name]()
    graph = graph_of(root, {})
    assert (core_norms(graph, root, None, None) is None) == (name == "hooked")
    assert_same(norms_of(graph, root), by_steps(root))


def test_a_pass_of_the_core_leaves_nothing_behind() -> None:
    x = av.randn(70, requires_grad=True)
    (x * 2).sum().backward()
    y = x.exp()
    loss = (y * y).sum()
    y.retain_grad()
    before, version = x.grad, x.grad._version
    values, remembered = x.grad.tolist(), [n._remember() for n in graph_of(loss, {}).node_ids]
    graph = graph_of(loss, {"x": x})
    norms = norms_of(graph, loss)
    assert (x.grad is before, x.grad._version, x.grad.tolist()) == (True, version, values)
    assert y.grad is None
    for node, kept in zip(graph.node_ids, remembered, strict=True):
        assert all(a is b for a, b in zip(node._remember(), kept, strict=True))
    loss.backward()
    (leaf,) = (t.id for t in graph.document.tensors if t.name == "x")
    assert math.isclose(norms[leaf, "grad", 0], av.linalg.vector_norm(x.grad).item(), rel_tol=1e-6)


def test_only_what_is_asked_for_is_told() -> None:
    x = av.tensor([3.0, 4.0], requires_grad=True)
    loss = (x * x).sum()
    graph = graph_of(loss, {})
    everything = norms_of(graph, loss)
    place = next(p for p in everything if p[1] == "in")
    assert norms_of(graph, loss, places=[place]) == {place: everything[place]}
    assert norms_of(graph, loss, places=[]) == {}


def test_a_leafs_grad_is_added_to() -> None:
    x, w = av.tensor([3.0, 4.0], requires_grad=True), av.tensor(1.0, requires_grad=True)
    loss = (x.detach() * w).sum()  # 7
    graph = graph_of(loss, {"w": w})
    (id,) = (t.id for t in graph.document.tensors if t.name == "w")
    w.grad = av.tensor(-10.0)
    assert norms_of(graph_of(loss, {"w": w}), loss)[id, "grad", 0] == 3
    assert norms_of(graph_of(loss, {"w": w}), loss, av.tensor(0.0))[id, "grad", 0] == 10
