"""Before PyTorch 2.5 a node tells nothing of its gradients: a dry_run finds out. Newer releases are taken for such a one."""

from __future__ import annotations

import gc
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.reading import older  # noqa: E402
from autograd_viz.sources.pytorch.reading.graph import TorchGraph  # noqa: E402
from autograd_viz.sources.pytorch.reading.nodes import Metadata, is_accumulate, outputs_of  # noqa: E402

from ..torch_features import NEEDS  # noqa: E402
from ..torch_models import VERSION  # noqa: E402
from .test_torch_passes import LARGE, PROGRAMS, Run, ends  # noqa: E402

pytestmark = pytest.mark.torch
RUN_HERE = [n for n in PROGRAMS if n not in LARGE and NEEDS.get(n, (2, 2)) <= min(VERSION, (2, 4))]
every_older_program = pytest.mark.parametrize("name", RUN_HERE)


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older, "IS_OLDER", True)


@every_older_program
def test_a_stepped_pass_ends_like_backward(name: str) -> None:
    theirs, ours = ends(name)
    assert ours == theirs


@pytest.mark.skipif(VERSION < (2, 5), reason="the oracle is `_input_metadata`, which PyTorch has had since 2.5")
@every_older_program
def test_the_dry_run_finds_what_newer_releases_tell(name: str) -> None:
    if name == "function_with_non_differentiable_outputs":
        return  # the node says () of the outputs that get no gradient, a Function gets zeros of their shape
    run = Run(name)
    for node in TorchGraph([run.root], {}).nodes:
        told = [Metadata(tuple(m.shape), m.dtype, m.device) for m in node._input_metadata]
        found = outputs_of(node)
        assert len(found) == len(told), node
        assert all(f == t for f, t in zip(found, told, strict=True) if f.is_known), node


def _silent(x: Any) -> Any:
    """Hooks of every kind, and tensors that are gone when it returns."""
    y = x.sin()
    y.register_hook(lambda g: g * 2)
    y.register_hook(lambda g: g + 1)
    z = y.exp()
    z.register_hook(lambda g: g.clamp(max=3.0))
    return z.sum()


def test_hooks_of_tensors_that_are_gone_run() -> None:
    x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    _silent(x).backward()
    expected, x.grad = x.grad, None
    loss = _silent(x)
    gc.collect()
    av.step(loss).finish()
    assert torch.equal(x.grad, expected)


def test_nothing_of_the_users_runs_before_the_first_step() -> None:
    called = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return (a + b) * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            called.append("backward")
            return g.sum(0) * 2, g * 2

    x, w = torch.ones(3, requires_grad=True), torch.ones(2, 3, requires_grad=True)
    h = Twice.apply(x.sin(), torch.dropout(w * 2, 0.5, True))
    h.retain_grad()
    h.register_hook(lambda g: called.append("hook"))
    h.grad_fn.register_prehook(lambda g: called.append("prehook"))
    x.register_hook(lambda g: called.append("hook of a leaf"))
    state = torch.get_rng_state()
    s = av.step(h.square().sum())
    assert not called and h.grad is None and x.grad is None and w.grad is None
    assert torch.equal(torch.get_rng_state(), state)
    s.finish()
    assert sorted(called) == ["backward", "hook", "hook of a leaf", "prehook"]
    assert x.grad is not None and w.grad is not None and h.grad is not None


def test_what_cannot_be_known_is_said() -> None:
    x = torch.ones(3, requires_grad=True)
    loss = x.sin().exp().sum()
    loss.backward()
    nodes = [n for n in TorchGraph([loss], {}).nodes if not is_accumulate(n)]
    assert [[m.is_known for m in outputs_of(n)] for n in nodes] == [[False], [True], [True]]  # the pass ended at what is freed
    assert "not kept (its shape: from PyTorch 2.5 on)" in [t.value.text for t in TorchGraph([loss], {}).document.tensors]


def test_a_gradient_that_nobody_knows_the_shape_of_cannot_be_given() -> None:
    x = torch.arange(6.0, requires_grad=True)
    a, _ = x.sin().chunk(2)
    s = av.step((a * 2).sum())
    s.next()
    s.next()
    s.stepper.edit(2.0, 0)
    with pytest.raises(ValueError, match="output 1 of SplitBackward0 gets no gradient in this pass"):
        s.stepper.edit(2.0, 1)


def test_a_dry_run_is_no_pass_of_the_program() -> None:
    x = torch.arange(3.0, requires_grad=True)
    with av.watch() as recorder:
        (x.exp() * x).sum().backward()
        expected, x.grad = x.grad, None
        av.step().finish()
        assert len(recorder.log.passes) == 1 and not recorder.faults
    assert torch.equal(x.grad, expected)
