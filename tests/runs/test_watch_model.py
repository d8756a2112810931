"""`w = av.watch(model)`: the loop is unchanged, and its numbers are those that ran."""

from __future__ import annotations

import copy
import math
import pickle
from contextlib import nullcontext
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.sources.shared.run.table import Table

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn.utils import clip_grad_norm_  # noqa: E402 -- by its name, as many loops have it

from autograd_viz.sources.pytorch.run import steps  # noqa: E402
from autograd_viz.sources.pytorch.run.numbers import floats  # noqa: E402

from .loops import Net, made, train  # noqa: E402

pytestmark = pytest.mark.torch


def column(run: Any, statistic: str, path: str, kind: str = "parameter") -> Any:
    """The numbers of a row, for each step."""
    run.totals()
    row = next(k for k, r in enumerate(run.history.rows) if (r.path, r.kind) == (path, kind))
    return run.history.series[statistic].spans().mean[:, row]


def test_a_watched_loop_computes_the_same_bits() -> None:
    model, optimizer = made()
    losses = train(model, optimizer, 20)
    state, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    model, optimizer = made()
    with av.watch(model) as run:
        assert train(model, optimizer, 20) == losses
    assert all(torch.equal(state[k], v) for k, v in model.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())
    assert run._watch.faults == []


def test_norms_losses_and_updates_are_those_that_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "FIRST", frozenset(range(64)))  # every step is full
    model, optimizer = made()
    norms, moved, before = [], [], []

    def look(k: int) -> None:
        norms.append(float(model.head.weight.grad.norm()))
        before.append(model.head.weight.detach().clone())

    with av.watch(model) as run:
        losses = train(model, optimizer, 6, look)
    after = [*before[1:], model.head.weight.detach()]
    moved = [float((a - b).norm() / b.norm()) for a, b in zip(after, before, strict=True)]
    assert np.allclose(column(run, "norm", "head.weight"), norms)
    assert np.allclose(column(run, "update", "head.weight"), moved, rtol=1e-4)
    assert np.allclose(run.totals()["loss"], losses)
    assert list(run.totals()["passes"]) == [1] * 6


def test_of_the_first_steps_few_are_full_and_all_have_losses_and_norms() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        train(model, optimizer, 60)
    assert np.isfinite(column(run, "norm", "head.weight")).all()
    assert np.isfinite(run.totals()["loss"]).all()
    assert [*np.flatnonzero(np.isfinite(column(run, "update", "head.weight")))] == [0, 1, 2, 4, 8, 16, 32]


def test_the_gradient_of_a_modules_output_is_measured_over_all_its_calls() -> None:
    shared = nn.Linear(3, 3)
    model = nn.Sequential(shared, nn.Tanh(), shared)
    x, seen = torch.ones(2, 3), []
    with av.watch(model) as run:
        middle = model[1](model[0](x))
        result = model[2](middle)
        result.register_hook(seen.append)
        middle.register_hook(seen.append)
        result.sum().backward()
        torch.optim.SGD(model.parameters(), 0.1).step()
    assert math.isclose(column(run, "norm", "1", "output")[0], seen[1].norm(), rel_tol=1e-6)


def test_zeros_and_the_largest_value() -> None:
    model = nn.Linear(4, 1, bias=False)
    with av.watch(model) as run:
        model(torch.tensor([0.0, 0.0, -3.0, 2.0])).sum().backward()
        torch.optim.SGD(model.parameters(), 0.1).step()
    assert column(run, "zeros", "weight")[0] == 0.5
    assert column(run, "largest", "weight")[0] == 3


def test_clipping_rates_accumulation_are_noted() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        train(model, optimizer, 2, lambda k: clip_grad_norm_(model.parameters(), 1e-3))
        optimizer.param_groups[0]["lr"] = 0.5
        for _ in range(3):
            model(torch.randn(16, 4)).sum().backward()
        optimizer.step()
    totals = run.totals()
    assert totals["clip"][0] < 0.1
    assert list(totals["passes"]) == [1, 1, 3]
    assert [m.text for m in run.history.marks if m.kind == "rate"] == ["0.05 → 0.5"]


def test_several_optimizers_share_a_step_or_take_turns() -> None:
    model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    first, second = (torch.optim.SGD(model[name].parameters(), 0.1) for name in "ab")
    with av.watch(model) as run:
        for _ in range(2):  # one pass, two optimizers
            model["b"](model["a"](torch.ones(2))).sum().backward()
            first.step()
            second.step()
        for optimizer in (first, second):  # a pass for each
            model["b"](model["a"](torch.ones(2))).sum().backward()
            optimizer.step()
    assert run.history.steps == 4
    assert np.isfinite(column(run, "norm", "a.weight")).tolist() == [True, True, True, False]


def test_an_optimizer_of_some_parameters_measures_only_these() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
    weights = [layer.weight for layer in model]
    optimizer = torch.optim.SGD(weights, 0.1)
    with av.watch(model) as run:
        model(torch.ones(2)).sum().backward()
        norms = [float(w.grad.norm()) for w in weights]
        optimizer.step()
    assert np.allclose([column(run, "norm", f"{k}.weight")[0] for k in range(3)], norms)
    assert np.isnan(column(run, "norm", "0.bias")).all()


def test_a_watched_model_can_be_copied_pickled_and_saved() -> None:
    model, _ = made()
    with av.watch(model):
        assert not model._forward_hooks
        assert not copy.deepcopy(model)._forward_pre_hooks
        pickle.dumps(model)


def test_closing_removes_every_hook() -> None:
    def names() -> list[Any]:
        clip = vars(torch.nn.utils.clip_grad)
        clipping = [v for name, v in clip.items() if "clip_grad" in name]
        return [torch.autograd._engine_run_backward, vars(torch.amp.GradScaler)["step"], *clipping]

    before = names()
    model, optimizer = made()
    run = av.watch(model)
    assert names() != before
    run.close()
    assert names() == before
    train(model, optimizer, 1)


def test_two_runs_and_a_recorder_can_be_on_at_once_and_end_in_any_order() -> None:
    (model, optimizer), call = made(), nn.Module.__call__
    first, recorder, second = av.watch(model), av.watch(), av.watch(model)
    train(model, optimizer, 2)
    first.close()
    train(model, optimizer, 1)
    recorder.close()
    second.close()
    assert (first.history.steps, second.history.steps) == (2, 3)
    assert nn.Module.__call__ is call


def test_a_model_that_cannot_be_watched_says_why() -> None:
    with pytest.raises(av.NotDrawableError, match="takes a module, got list"):
        av.watch([])
    with pytest.raises(ValueError, match="no parameter of this model requires grad"):
        av.watch(nn.ReLU())


def test_a_checkpointed_model_is_watched() -> None:
    class Checkpointed(Net):
        def forward(self, x: Any, scale: float = 1.0) -> Any:
            return self.head(torch.utils.checkpoint.checkpoint(self.body, x, use_reentrant=False)) * scale

    model, optimizer = made(Checkpointed)
    with av.watch(model) as run:
        train(model, optimizer, 3)
    assert np.isfinite(column(run, "norm", "body.0.weight")).all()
    assert run._watch.faults == []


def test_a_kept_step_has_the_ops_of_the_model_only() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        run.keep(every=1)
        train(model, optimizer, 2)
        document = run.step(0).stepper.document
    assert {op.name for op in document.ops} & {"Detach", "Clone"} == set()
    assert {t.name for t in document.tensors if t.is_leaf and t.requires_grad} == {n for n, _ in model.named_parameters()}


@pytest.mark.parametrize("library", [torch, av])
def test_a_stepper_of_a_watched_model_shows_no_hooks_of_the_watch(library: Any) -> None:
    model = library.nn.Sequential(library.nn.Linear(2, 2), library.nn.Tanh(), library.nn.Linear(2, 1))
    with av.watch(model) as run:
        result = model(library.ones(1, 2))
        result.register_hook(lambda grad: grad * 2)
        stepper = av.step((result**2).sum())
        stepper.finish()
        assert [hook.name for step in stepper.stepper.trace.steps for hook in step.hooks] == ["<lambda>"]
        assert run._watch.has_pass


@pytest.mark.parametrize("how", ["torch.compile(model)", "model.compile()"])
def test_a_compiled_model_is_watched_in_one_graph(how: str) -> None:
    """It takes over a second: PyTorch's compiler is imported."""

    def run(is_watched: bool) -> tuple[list[float], int, Any]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        model, optimizer = made()
        compiled = torch.compile(model, backend="aot_eager") if how == "torch.compile(model)" else model
        if compiled is model:
            model.compile(backend="aot_eager")
        with av.watch(model) if is_watched else nullcontext() as watched, torch.random.fork_rng():
            losses = train(compiled, optimizer, 3)
        return losses, torch._dynamo.utils.counters["stats"]["unique_graphs"], watched

    losses, graphs, watched = run(is_watched=True)
    assert np.isfinite(column(watched, "norm", "body.0.weight")).all()
    assert watched._watch.faults == []
    assert (losses, graphs) == run(is_watched=False)[:2]


def test_bfloat16_autocast_is_watched() -> None:
    model, optimizer = made()
    with av.watch(model) as run, torch.autocast("cpu", torch.bfloat16):
        train(model, optimizer, 3)
    assert np.isfinite(column(run, "norm", "head.weight")).all()


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.LBFGS])
def test_a_pass_in_a_closure_belongs_to_the_step_that_runs_it(kind: Any) -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = kind(model.parameters(), lr=0.1)
    losses: list[float] = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (model(torch.ones(3)) ** 2).sum()
        loss.backward()
        losses.append(loss.item())
        return loss

    with av.watch(model) as run:
        ends = []
        for _ in range(3):
            optimizer.step(closure)
            ends.append(losses[-1])
    assert run.history.steps == 3
    assert np.allclose(run.totals()["loss"], ends)
    assert sum(run.totals()["passes"]) == len(losses)
    assert np.isfinite(column(run, "norm", "weight")).all()


def test_nan_in_a_closure_stops_before_a_weight_moves() -> None:
    model, optimizer = made(lambda: nn.Linear(4, 1))
    weight = model.weight.detach().clone()

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(torch.ones(2, 4)).sum() * float("nan")
        loss.backward()
        return loss

    with av.watch(model), pytest.raises(av.NotFiniteError):
        optimizer.step(closure)
    assert torch.equal(model.weight, weight)


def test_numbers_that_wait_on_a_device_are_read_with_the_block() -> None:
    table = Table([1, 0, 2], floats)
    for step in range(3):
        table.put("norm", [0, 1], torch.tensor([1.0, 2.0]) + step if step else [1.0, 2.0])  # a model may move to a device
        table.put_one("norm", 2, torch.tensor(torch.nan))
        if step < 2:
            table.end((torch.tensor(0.5), None, 0.1, 1, None, 2.0))
    values, seen = table.take()
    nan = pytest.approx(np.nan, nan_ok=True)
    assert values[:, :3].tolist() == [[2.0, 1.0, nan], [3.0, 2.0, nan]]
    assert values[1, 12:].tolist() == pytest.approx([0.5, np.nan, 0.1, 1, np.nan, 2.0], nan_ok=True)
    assert seen[0].tolist() == [True] * 3 + [False] * 9 + [True, False, True, True, False, True]
    table.end((None,) * 6)  # the numbers of the step that was not complete are still there
    assert table.take()[0][0, :2].tolist() == [4.0, 3.0]


def test_an_interrupt_while_a_step_is_measured_leaves_gradients_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        train(model, optimizer, 2)
        monkeypatch.setattr(run._watch.kept, "before_step", MagicMock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            train(model, optimizer, 1)
        monkeypatch.undo()
        assert torch.is_grad_enabled()


def test_a_sparse_gradient_has_the_numbers_of_a_dense_one() -> None:
    runs = []
    for is_sparse in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(5, 4, sparse=is_sparse), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with av.watch(model) as run:
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.tensor([0, 3, 3])).square().sum().backward()
                optimizer.step()
        runs.append(run)
    assert not runs[1]._watch.faults
    for statistic in ("norm", "largest", "update"):
        dense, sparse = (column(run, statistic, "0.weight") for run in runs)
        assert dense.all() and sparse == pytest.approx(dense, rel=1e-5)
