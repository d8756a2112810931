"""The norms of one pass of PyTorch's engine are those that the steps tell, and nothing of the user's is touched."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.anything import graph_of, norms_of  # noqa: E402
from autograd_viz.sources.pytorch.reading.hooks import dict_of  # noqa: E402
from autograd_viz.sources.pytorch.stepping.norms import torch_norms  # noqa: E402

from ..torch_features import FEATURES  # noqa: E402
from ..torch_hooked import HOOKED, SAID  # noqa: E402
from ..torch_models import GPT, MODELS, Program  # noqa: E402
from .test_norms import assert_same, by_steps  # noqa: E402

pytestmark = pytest.mark.torch
PROGRAMS = {**MODELS, **HOOKED, **FEATURES}


def root_of(make: Program) -> tuple[Any, Any, list[Any]]:
    """The root, the first gradient, and what lives beside them."""
    torch.manual_seed(0)
    forward, leaves = make()
    out = forward()
    root, gradient = out if isinstance(out, tuple) else (out, None)
    return root, gradient, [forward, *leaves]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_norms_are_those_of_the_steps(name: str) -> None:
    root, gradient, _alive = root_of(PROGRAMS[name])
    try:
        expected = by_steps(root, gradient)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            norms_of(graph_of(root, {}), root, gradient)
        return
    root, gradient, _alive = root_of(PROGRAMS[name])  # hooks may have removed themselves
    assert_same(norms_of(graph_of(root, {}), root, gradient), expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_a_pass_without_code_of_the_users_is_not_stepped(name: str) -> None:
    root, gradient, _alive = root_of(MODELS[name])
    assert torch_norms(graph_of(root, {}), root, gradient, None) is not None


@pytest.mark.parametrize("name", HOOKED)
def test_hooks_run_as_they_run_when_stepped(name: str) -> None:
    root, gradient, _alive = root_of(HOOKED[name])
    SAID.clear()
    by_steps(root, gradient)
    said = SAID[:]
    root, gradient, _alive = root_of(HOOKED[name])
    SAID.clear()
    norms_of(graph_of(root, {}), root, gradient)
    assert said == SAID


def test_nothing_is_touched() -> None:
    net = GPT(1)
    loss = net(torch.randint(0, 11, (2, 6)))
    loss.backward(retain_graph=True)
    kept = [torch.zeros(3, requires_grad=True), loss * 2]
    kept[1].retain_grad()
    root = kept[1] * 3
    graph = graph_of(root, {})
    leaves = [*net.parameters()]
    before = [(p.grad, p.grad._version, p.grad.clone(), p._version) for p in leaves]
    random = torch.get_rng_state()
    norms = norms_of(graph, root)
    for p, (grad, version, values, own) in zip(leaves, before, strict=True):
        assert p.grad is grad
        assert (grad._version, p._version) == (version, own)
        assert torch.equal(grad, values)
    assert kept[1].grad is None
    assert torch.equal(torch.get_rng_state(), random)
    assert not any(dict_of(n.register_prehook) or dict_of(n.register_hook) for n in graph.node_ids)
    root.backward()
    ids = {graph.tensor_id(p): p for p in leaves}
    for id, p in ids.items():
        assert norms[id, "grad", 0] == pytest.approx(float(p.grad.norm()), rel=1e-5)


def test_hooks_are_taken_away_after_an_error() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    loss = (y * 2).sum()
    graph = graph_of(loss, {})
    y.add_(1)  # which exp has saved
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        norms_of(graph, loss)
    assert not any(dict_of(n.register_prehook) or dict_of(n.register_hook) for n in graph.node_ids)


def test_a_hook_of_a_tensor_that_is_gone_stands_between_what_left_and_what_arrived() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: g * 10)
    loss = (y * 2).sum()
    del y
    graph = graph_of(loss, {})
    node = {n.name: n.id for n in graph.document.nodes}
    norms = norms_of(graph, loss)
    assert norms[node["ExpBackward0"], "in", 0] == pytest.approx(10 * norms[node["MulBackward0"], "out", 0])


def test_many_elements_and_many_gradients_are_read_as_few_are() -> None:
    x, z = torch.randn(1100, 1000, requires_grad=True), torch.ones(70, requires_grad=True)
    loss = sum((z * k).sum() for k in range(300)) + (x * 3).sum() + (x.double() * 1e-200).sum()
    graph = graph_of(loss, {"x": x})
    norms = norms_of(graph, loss)
    loss.backward()
    (id,) = (t.id for t in graph.document.tensors if t.name == "x")
    assert norms[id, "grad", 0] == pytest.approx(float(x.grad.double().norm()), rel=1e-9)
    tiny = [n for p, n in norms.items() if 0 < n < 1e-100]
    assert tiny == [pytest.approx(1e-200 * 1_100_000**0.5, rel=1e-9)] * len(tiny)
    assert tiny


def test_a_recording_notices_nothing() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    with av.record(net) as recorder:
        loss = net(torch.ones(1, 2)).sum()
        norms_of(graph_of(loss, {}), loss)
        assert not recorder.has_passed
    assert [o.module for o in graph_of(loss, {}).document.ops if o.node][-1] == ""
