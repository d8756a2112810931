"""Whatever a user does around a recorder of PyTorch programs: their program goes on as it would without us."""

from __future__ import annotations

import contextlib
import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.reading.graph import TorchGraph  # noqa: E402
from autograd_viz.sources.pytorch.reading.older import IS_OLDER  # noqa: E402

from ..torch_features import leaf  # noqa: E402
from ..torch_steppers import Seen, modes, ops_of, stepped  # noqa: E402

pytestmark = pytest.mark.torch


def test_a_recorder_in_a_recorder() -> None:
    x = leaf(3)
    with av.record():
        y = x * 2
        with av.record():
            z = y.sin()
        w = (z + y).sum()
    assert [o.name for o in ops_of(w)] == ["Mul", "Sin", "Add", "Sum"]
    assert not any(o.reconstructed for o in ops_of(w))
    assert modes() == 0


def test_a_tensor_elsewhere_for_which_autograd_refuses_to_answer_stops_no_stepper() -> None:
    base = torch.ones(3, requires_grad=True).clone()
    refusing = base.unbind()[1]
    with torch.no_grad():
        base.add_(1)
    base.mul_(2)
    with pytest.raises(RuntimeError, match="has been modified inplace"):
        refusing.grad_fn
    x = torch.tensor(2.0, requires_grad=True)
    stepper = av.step(x * x).stepper
    stepper.finish()
    assert x.grad is not None and x.grad.item() == 4.0


def test_a_recorder_in_a_thread() -> None:
    x, found = leaf(3), []

    def go() -> None:
        with av.record():
            found.append((x * 2).sum())

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    stepped(found[0])
    assert x.grad.tolist() == [2, 2, 2]


def test_a_recorder_in_a_generator() -> None:
    def values(x: Any) -> Iterator[Any]:
        with av.record():
            y = x * 2
            yield y
            yield y.sin()

    given = values(leaf(3))
    next(given).sum().backward()
    given.close()
    assert modes() == 0


def test_backward_inside_a_recorder() -> None:
    x = leaf(3)
    with av.record():
        (x * 2).sum().backward()
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        loss = slope.sum()
    assert x.grad.tolist() == [2, 2, 2]
    x.grad = None
    stepped(loss)
    assert torch.allclose(x.grad, 6 * x)


def test_a_detach_in_a_loop_is_followed() -> None:
    with av.record():
        h = leaf(3) * 2
        for _ in range(3):
            h = h.detach()
    assert [o.name for o in ops_of(h)] == ["Mul", "Detach"]


@pytest.mark.parametrize(
    ("what", "advice"), [("net", ""), ([nn.Tanh()], "for several modules use torch.nn.ModuleDict"), (leaf(2), "")]
)
def test_only_what_can_be_called_is_recorded(what: Any, advice: str) -> None:
    with pytest.raises(
        av.NotDrawableError, match=f"takes a module, a function or nothing; got {type(what).__name__}.*{advice}"
    ):
        av.record(what)


@pytest.mark.skipif(IS_OLDER, reason="lazy batch norm runs under no dispatch mode there")
def test_layers_that_learn_their_shapes_are_recorded_from_the_first_call_on() -> None:
    net = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
    with av.record(net) as recorder:
        loss = net(torch.ones(4, 2)).sum()
    assert not recorder.problems
    assert [o.name for o in ops_of(loss) if o.node] == ["T", "Addmm", "NativeBatchNorm", "Sum"]


class Interrupted(nn.Module):
    """Ctrl-C in the forward pass."""

    def forward(self, x: Any) -> Any:
        self.y = x * 2
        raise KeyboardInterrupt


def test_an_exception_passes_and_what_ran_is_kept() -> None:
    net = nn.Sequential(Interrupted())
    recorder = av.record(net)
    with pytest.raises(KeyboardInterrupt):
        recorder(leaf(3))
    assert isinstance(recorder.error, KeyboardInterrupt)
    (op,) = ops_of(net[0].y)
    assert (op.name, op.module, op.reconstructed) == ("Mul", "0", False)
    assert modes() == 0


def test_a_recorder_hooks_no_module() -> None:
    from torch.nn.modules import module

    net, seen = nn.Sequential(nn.Linear(2, 2)), []
    net[0].register_forward_hook(
        lambda *_: seen.append((len(module._global_forward_hooks), len(module._global_forward_pre_hooks)))
    )
    with av.record(net):
        net(torch.randn(1, 2))
    assert seen == [(0, 0)]


def test_a_module_that_calls_itself() -> None:
    class Again(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Any, left: int) -> Any:
            return self.linear(x) if not left else self(self.linear(x).tanh(), left - 1)

    net = Again()
    with av.record(net):
        loss = net(torch.randn(1, 2), 3).sum()
    paths = [(o.name, o.module) for o in ops_of(loss) if o.node]
    assert paths.count(("Addmm", "linear")) == 4
    assert paths.count(("Tanh", "")) == 3


@pytest.mark.parametrize("around", [torch.no_grad, torch.inference_mode])
def test_without_grad(around: Any) -> None:
    net = nn.Linear(3, 2)
    with av.record(net), around():
        out = net(torch.randn(1, 3)).relu()
        out.add_(1)
    assert out.is_inference() == (around is torch.inference_mode)
    assert "0 backward nodes" in repr(av.show(out))
    with av.record(net):
        loss = (net(torch.randn(1, 3)) * out.clone()).sum()
    stepped(loss)
    assert net.weight.grad is not None


def test_a_mode_of_the_users_sees_none_of_our_ops() -> None:
    x = leaf(3)
    with Seen() as alone:
        (x * 2).sum()
    with Seen() as outside, av.record():
        y = (x * 2).sum()
    with av.record(), Seen() as inside:
        (x * 2).sum()
    with Seen() as looking:
        TorchGraph([y], {})
    assert (outside.count, inside.count, looking.count) == (alone.count, alone.count, 0)


def test_what_is_recorded_dies_at_once() -> None:
    class Alive:
        pass

    gc.collect()
    gc.disable()
    try:
        with av.record():
            x = leaf(3)
            with torch.no_grad():
                target = (torch.randn(100) * 2).sin()
            y = (x * 2).sin()
            y.grad_fn.metadata["alive"] = alive = Alive()
            stored = weakref.ref(target.untyped_storage())
            kept = [weakref.ref(alive), weakref.ref(y), weakref.ref(target)]
        assert stored
        del x, y, alive, target
        assert [r() for r in kept] == [None] * 3
        assert not [t for t in gc.get_objects() if type(t) is torch.Tensor and not t.is_nested and t.shape == (100,)]
    finally:
        gc.enable()


def losses_of(batches: int, around: Any, inside: Any) -> tuple[list[Any], int]:
    """The losses of a loop that keeps them detached, and how many tensors of its activations' size stay alive."""
    w, losses = torch.ones(101, requires_grad=True), []
    with around():
        for _ in range(batches):
            with inside():
                loss = (w * 2).exp().sum()
                loss.backward()
                losses.append(loss.detach())
    del w, loss
    return losses, sum(type(t) is torch.Tensor and not t.is_nested and t.shape == (101,) for t in gc.get_objects())


@pytest.mark.parametrize(("around", "inside"), [(contextlib.nullcontext, av.record), (av.record, contextlib.nullcontext)])
def test_of_a_loop_that_keeps_its_losses_the_last_graph_alone_is_kept(around: Any, inside: Any) -> None:
    gc.collect()
    gc.disable()
    try:
        one, alive_of_one = losses_of(1, around, inside)
        five, alive = losses_of(5, around, inside)
    finally:
        gc.enable()
    assert alive == alive_of_one
    assert [o.name for o in ops_of(five[-1])] == ["Mul", "Exp", "Sum", "Detach"]
    assert not ops_of(five[0]) and not ops_of(one[0])


def alive_after(recordings: int) -> int:
    """How many elements live after so many calls of a network that requires no gradient, each with a result that is kept."""
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).requires_grad_(False)
    kept = []
    for _ in range(recordings):
        with av.record(net):
            kept.append(net(torch.ones(128, 64)).mean())
    return sum(t.numel() for t in gc.get_objects() if type(t) is torch.Tensor and not t.is_nested)


def test_recordings_of_what_requires_no_gradient_keep_no_more_than_the_last() -> None:
    gc.collect()
    one, five = alive_after(1), alive_after(5)
    assert five - one < 1000


def test_a_frozen_network_dies_although_its_results_are_kept() -> None:
    net = nn.Linear(4, 4).requires_grad_(False)
    weight = weakref.ref(net.weight)
    with av.record(net):
        chosen = net(torch.ones(2, 4)).argmax(1)
    del net
    assert weight() is None and chosen is not None


def test_a_recorded_backward_pass_marks_no_grad() -> None:
    """So parameters and their grads can be swapped, as `module.to()` may do."""
    net = nn.Linear(2, 2)
    with av.record(net):
        net(torch.ones(3, 2)).sum().backward()
    assert not [weakref.getweakrefs(t) for p in net.parameters() for t in (p, p.grad) if weakref.getweakrefs(t)]


def test_scopes_and_modules_make_one_path() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(2, 2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with av.scope("twice"):
                x = self.body(x) * 2
            return x.sin()

    net = torch.nn.Sequential(Net())
    with av.record(net), av.scope("train"):
        loss = net(torch.ones(1, 2, requires_grad=True)).sum()
    paths = {op.name: op.module for op in TorchGraph([loss], {}).document.ops}
    assert paths["Tanh"] == "train.0.twice.body.0"
    assert paths["Addmm"] == "train.0.twice.body.1"
    assert paths["Mul"] == "train.0.twice"
    assert (paths["Sin"], paths["Sum"]) == ("train.0", "train")


def test_a_recording_goes_on_after_a_pass_inside_of_a_pass() -> None:
    w = torch.ones(2, requires_grad=True)
    with av.record():
        torch.utils.checkpoint.checkpoint(torch.exp, w * 2, use_reentrant=True).sum().backward()
        loss = w.sin().sum()
    assert [op.name for op in TorchGraph([loss], {}).document.ops] == ["Sin", "Sum"]
