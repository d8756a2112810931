"""Tensors of unusual kinds, and what looking at a program must not do to them."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils._pytree import tree_map  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.runtime.collector import collector_waits  # noqa: E402
from autograd_viz.sources.pytorch.reading import hooked  # noqa: E402

from .. import fresh  # noqa: E402
from ..torch_steppers import stepper_of  # noqa: E402

pytestmark = pytest.mark.torch


class Wrapped(torch.Tensor):  # type: ignore[misc]
    """A tensor around another, as those of distributed PyTorch are."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __repr__(self, **_: Any) -> str:
        return f"Wrapped({self.inner.tolist()})"

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map(lambda a: a.inner if isinstance(a, Wrapped) else a, (args, kwargs or {}))
        return tree_map(lambda a: Wrapped(a) if isinstance(a, torch.Tensor) else a, op(*args, **kwargs))


@pytest.mark.parametrize("look", [av.show, av.step, av.explain, lambda loss: av.step(loss).finish()])
@pytest.mark.parametrize("size", [3, 100])
def test_memory_can_be_resized_after_a_look(look: Callable[[Any], Any], size: int) -> None:
    w = torch.ones(size, requires_grad=True)
    h = w * 2
    loss = h.exp().sum()
    look(loss)
    for t in (w, h):
        t.untyped_storage().resize_(0)
        assert t.untyped_storage().nbytes() == 0


@pytest.mark.parametrize("around", [av.record, torch.enable_grad])
def test_a_tensor_class_of_the_users(around: Any) -> None:
    x = Wrapped(torch.randn(3)).requires_grad_()
    with around():
        y = (x * 2).sin().sum()
    av.show(y)
    stepper_of(y).finish()
    assert torch.allclose(x.grad.inner, 2 * (2 * x.inner).cos())


def test_back_restores_the_grad_of_a_wrapped_tensor() -> None:
    w = Wrapped(torch.ones(3)).requires_grad_()
    loss = (w * 2).sum()
    s = stepper_of(loss)
    for _ in range(2):
        s.finish()
        assert repr(w.grad) == "Wrapped([2.0, 2.0, 2.0])"
        s.reset()
        assert w.grad is None
    loss.backward(retain_graph=True)
    again = stepper_of(loss)
    again.finish()
    assert repr(w.grad) == "Wrapped([4.0, 4.0, 4.0])"
    again.reset()
    assert repr(w.grad) == "Wrapped([2.0, 2.0, 2.0])"


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # PyTorch's own, of its first call
def test_a_graph_of_forward_mode_has_tensors_without_memory() -> None:
    w = torch.randn(3, requires_grad=True)
    loss = torch.func.jvp(lambda v: (v * w).sin().prod(), (w * 2,), (torch.ones(3),))[1]
    (expected,) = torch.autograd.grad(loss, w, retain_graph=True)
    assert "backward nodes" in repr(av.show(loss))
    stepper_of(loss).finish()
    assert torch.equal(w.grad, expected)


@pytest.mark.parametrize("features", [8, 9])
def test_a_weight_that_was_initialized_in_place_is_shown(features: int) -> None:
    """`nn.init` counts as a change in place, before anybody looked."""
    net = torch.nn.Linear(features, 8)
    torch.nn.init.constant_(net.weight, 0.625)
    assert net.weight._version > 0
    with av.record(net):
        loss = net(torch.ones(1, features)).sum()
    weight = next(t for t in stepper_of(loss).document.tensors if t.value.shape == (8, features))
    assert "0.6250" in weight.value.text


def test_a_large_leaf_that_is_changed_after_the_recording_is_told() -> None:
    x = torch.ones(100, requires_grad=True)
    with av.record():
        loss = (x * 2).sum()
    with torch.no_grad():
        x.add_(1)
    assert next(t for t in stepper_of(loss).document.tensors if t.is_leaf).value.text == "overwritten"


def test_a_large_grad_that_was_added_to_comes_back_with_the_step() -> None:
    w = torch.randn(100_001, requires_grad=True)
    w.sum().backward()
    s = av.step((w * 3).sum()).stepper
    s.finish()
    assert w.grad is not None and bool((w.grad == 4).all())
    s.reset()
    assert bool((w.grad == 1).all())
    s.finish()
    assert bool((w.grad == 4).all())


def test_a_sparse_grad_that_was_added_to_is_taken_back(tmp_path: Path) -> None:
    table, rows = torch.nn.Embedding(10, 3, sparse=True), torch.tensor([1, 2, 2, 5])
    table(rows).square().sum().backward()
    assert table.weight.grad is not None
    before = table.weight.grad.to_dense().clone()
    loss = table(rows).square().sum()
    av.save(loss, tmp_path / "pass.json")
    assert torch.equal(table.weight.grad.to_dense(), before)
    loss.backward()
    assert torch.equal(table.weight.grad.to_dense(), 2 * before)


@pytest.mark.parametrize("replaces", [True, False])
def test_saving_keeps_a_leaf_that_a_hook_updates_through_data(tmp_path: Path, replaces: bool) -> None:
    p = torch.nn.Parameter(torch.ones(3))
    memory = p.data_ptr()

    def descend(leaf: torch.Tensor) -> None:
        if replaces:
            leaf.data = leaf.data - 0.1 * leaf.grad
        else:
            leaf.data.sub_(0.1 * leaf.grad)

    p.register_post_accumulate_grad_hook(descend)
    av.save((p * 2).sum(), tmp_path / "pass.json")
    assert p.tolist() == [1.0, 1.0, 1.0] and p.data_ptr() == memory and p.grad is None


@pytest.mark.parametrize(
    ("hook", "said"), [(lambda g: g.nan_to_num(), ""), (lambda g: g * float("nan"), "returned nan values")]
)
def test_anomaly_mode_looks_at_what_the_hooks_of_a_node_leave(hook: Callable[[Any], Any], said: str) -> None:
    def outcome(run: Callable[[Any], Any]) -> tuple[str, str]:
        x = torch.tensor([4.0, -1.0 if not said else 1.0], requires_grad=True)
        error = ""
        with torch.autograd.set_detect_anomaly(True):
            y = x.sqrt()
            y.grad_fn.register_hook(lambda given, _: (hook(given[0]),))
            try:
                run(y.sum())
            except RuntimeError as raised:
                error = str(raised)
        return error, repr(x.grad)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stepped, run = outcome(lambda loss: av.step(loss).stepper.finish()), outcome(lambda loss: loss.backward())
    assert stepped == run and said in stepped[0]


RECORDS = """
import sys, torch, autograd_viz as av
recording, model = av.record(), torch.nn.Linear(2, 2)
before = set(sys.modules)
with recording:
    model(torch.ones(1, 2)).sum()
print(sorted(set(sys.modules) - before))
"""


def test_nothing_is_imported_in_the_middle_of_a_recorded_forward_pass() -> None:
    done = subprocess.run([*fresh.python(), "-c", RECORDS], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_no_line_of_python_runs_when_a_recorded_tensor_dies() -> None:
    """Ctrl-C that comes in one would be printed and lost."""
    with av.record():
        kept = [torch.ones(3) * i for i in range(5)]
    calls: list[str] = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    kept.clear()
    sys.setprofile(None)
    assert calls == []


@pytest.mark.skipif(not hasattr(torch.utils, "swap_tensors"), reason="from PyTorch 2.3 on")
@pytest.mark.parametrize("requires_grad", [True, False])
def test_parameters_can_be_swapped_after_a_recording(requires_grad: bool) -> None:
    layer = torch.nn.Linear(2, 2).requires_grad_(requires_grad)
    x = torch.ones(1, 2, requires_grad=True)
    with av.record(layer):
        loss = (layer(x) + layer(x)).sum()
    s = av.step(loss)
    s.finish()
    names = [t.name for t in s.stepper.document.tensors if t.is_leaf and t.name]
    assert sorted(names) == ["layer.bias", "layer.weight", "x"], "one box each"
    s.close()
    del s, loss
    gc.collect()
    torch.utils.swap_tensors(layer.weight, torch.nn.Parameter(torch.zeros(2, 2), requires_grad))
    assert layer.weight.sum() == 0.0


@pytest.mark.skipif(not hasattr(torch.utils, "swap_tensors"), reason="from PyTorch 2.3 on")
@pytest.mark.parametrize("verb", [av.map, av.show, av.step, av.memory, av.explain])
def test_nothing_that_is_kept_marks_a_parameter(verb: Any) -> None:
    """PyTorch swaps no tensor that has weak references."""
    layer, w = torch.nn.Linear(2, 2), torch.ones(2, requires_grad=True)
    loss = (layer(torch.ones(1, 2)) * w).sum()
    kept = verb(layer.weight if verb is av.explain else loss)
    assert kept is not None and not [t for t in (layer.weight, layer.bias, w) if weakref.getweakrefs(t)]


@pytest.mark.skipif(not hooked._classes_find_all(), reason="older releases tell of their tensors in no other way")
def test_the_search_for_hooks_breaks_nothing_in_other_threads() -> None:
    """A tuple that a thread is building must be nobody else's meanwhile."""
    junk = [[i] for i in range(100_000)]
    errors: list[Exception] = []
    is_over = threading.Event()

    def build() -> None:
        while not is_over.is_set():
            try:
                tuple(i for i in range(2000))
            except SystemError as error:
                errors.append(error)

    threads = [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    w = torch.ones(2, requires_grad=True)
    h = w * 2
    h.retain_grad()
    found = [hooked.tensors_with_hooks() for _ in range(20)]
    with collector_waits():
        found += [hooked.tensors_with_hooks() for _ in range(20)]  # of the young ones
    is_over.set()
    for thread in threads:
        thread.join()
    assert all(any(t is h for t in tensors) for tensors in found)
    assert not errors and junk


def test_the_search_for_hooks_finds_what_is_young_and_what_has_become_old() -> None:
    w = torch.ones(2, requires_grad=True)
    early, later = w * 2, w * 3
    gc.collect()
    hooked.tensors_with_hooks()
    early.retain_grad()  # it is old, and nothing has become old since the search
    fresh = w * 4
    fresh.retain_grad()
    found = hooked.tensors_with_hooks()
    assert sum(t is early for t in found) == sum(t is fresh for t in found) == 1
    assert not any(t is later for t in found)
    gc.collect(1)  # now the fresh one is old, too
    found = hooked.tensors_with_hooks()
    assert sum(t is fresh for t in found) == 1
    gone = weakref.ref(early)
    del found, early
    assert gone() is None


@pytest.mark.skipif(not hooked.HAS_GENERATIONS, reason="the collector has other generations")
def test_a_second_search_does_not_ask_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    h = (torch.ones(2, requires_grad=True) * 2).exp()
    h.retain_grad()
    with collector_waits():
        hooked.tensors_with_hooks()
        monkeypatch.setattr(gc, "get_referrers", None)
        assert any(t is h for t in hooked.tensors_with_hooks())


def test_a_tensor_that_freezing_has_made_old_is_found() -> None:
    gc.collect()
    hooked.tensors_with_hooks()
    h = torch.ones(2, requires_grad=True) * 2
    h.retain_grad()
    gc.freeze()
    gc.unfreeze()
    assert any(t is h for t in hooked.tensors_with_hooks())


def test_back_leaves_a_grad_bit_for_bit_and_at_its_version(tmp_path: Path) -> None:
    """A graph of second order that has saved the grad can still be used."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([-0.0, 3.0])
    factor = torch.tensor(2.0, requires_grad=True)
    saves_the_grad = (factor * x.grad).sum()
    loss = (x * torch.tensor([-0.0, 2.0]) + x * 0).sum()
    av.save(loss, tmp_path / "loss.html")
    s = av.step(loss)
    s.finish()
    assert x.grad.tolist() == [0.0, 5.0]
    s.goto(0)
    assert x.grad.signbit().tolist() == [True, False] and x.grad._version == 0
    saves_the_grad.backward()
    assert factor.grad.item() == 3.0
