"""A loop of our own is watched as one of PyTorch's."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.twin.core.base import events

nn = av.nn


def made() -> tuple[Any, Any]:
    av.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 1))
    return model, av.optim.Adam(model.parameters(), lr=0.05)


def train(model: Any, optimizer: Any, steps: int, grads: list[Any] | None = None) -> list[float]:
    losses = []
    for _ in range(steps):
        x = av.randn(16, 4)
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        if grads is not None:
            grads.append([p.grad.numpy().copy() for p in model.parameters()])
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_watched_loop_computes_the_same_bits() -> None:
    model, optimizer = made()
    losses = train(model, optimizer, 5)
    model, optimizer = made()
    with av.watch(model) as run:
        assert train(model, optimizer, 5) == losses
    assert run.totals()["loss"] == pytest.approx(losses)


def test_an_answer_about_a_watched_program_names_the_users_line() -> None:
    weight = av.ones(2, requires_grad=True)
    with av.watch(nn.Linear(2, 1)):
        for _ in range(2):
            weight.sum().backward()
        assert "(test_core_run.py, line " in str(av.explain(weight))


def test_norms_are_those_that_ran_and_kept_steps_run_again() -> None:
    model, optimizer = made()
    grads: list[Any] = []
    with av.watch(model) as run:
        run.keep(every=2)
        train(model, optimizer, 4, grads)
        state = copy.deepcopy(model.state_dict())
        with run._loop.opened(2) as (root, gradient, leaves):
            root.backward(gradient)
            for (_, p), grad in zip(leaves.items(), grads[2], strict=True):
                assert (p.grad.numpy() == grad).all()
        assert all((model.state_dict()[k].numpy() == v.numpy()).all() for k, v in state.items())
    norms = run.history.series["norm"].spans().mean[:, [r.kind == "parameter" for r in run.history.rows]]
    assert np.allclose(norms, [[np.linalg.norm(g) for g in step] for step in grads])
    assert "0" in run.map(2).svg
    assert {op.source.expression for op in run.step(2).stepper.document.ops if op.source} == {"model(x)"}


def test_nan_stops_it_before_a_weight_moves() -> None:
    model, optimizer = made()
    weight = model[0].weight.detach().numpy().copy()
    with av.watch(model), pytest.raises(av.NotFiniteError, match=r"the gradient of 0\.weight is nan"):
        (model(av.ones(2, 4)).sum() * float("nan")).backward()
        optimizer.step()
    assert (model[0].weight.detach().numpy() == weight).all()


def test_closing_gives_the_names_back() -> None:
    model, optimizer = made()
    calling = events.calling
    with av.watch(model) as run:
        assert events.calling is not calling
    train(model, optimizer, 1)
    assert events.calling is calling
    with pytest.raises(RuntimeError, match="the pass of step 0 cannot run again: the run is closed"):
        run.step()
    assert run.history.steps == 0


def test_a_parameter_that_was_zero_has_no_ratio_of_its_first_update_and_the_run_goes_on() -> None:
    layer = av.nn.Linear(2, 1)
    with av.no_grad():
        layer.bias.zero_()
    optimizer = av.optim.SGD(layer.parameters(), lr=0.1)
    with av.watch(layer) as run:
        for _ in range(2):
            optimizer.zero_grad()
            layer(av.ones(1, 2)).sum().backward()
            optimizer.step()
    assert run.history.steps == 2
    first = run.history.series["update"].spans().mean[0, 1:]
    assert np.isfinite(first).tolist() == [True, False]


@pytest.mark.parametrize("library", ["core", pytest.param("torch", marks=pytest.mark.torch)])
def test_a_group_that_joins_later_is_measured_from_then_on(library: str) -> None:
    lib: Any = av if library == "core" else pytest.importorskip("torch")
    model = lib.nn.Sequential(lib.nn.Linear(2, 3, bias=False), lib.nn.Linear(3, 1, bias=False))
    optimizer = lib.optim.SGD(model[0].parameters(), lr=0.1)
    with av.watch(model, stop=False) as run:
        for step in range(3):  # PyTorch's third is the last that is measured whole
            if step == 1:
                optimizer.add_param_group({"params": [model[1].weight]})
            optimizer.zero_grad()
            model(lib.ones(1, 2)).sum().backward()
            optimizer.step()
    is_weight = [row.kind == "parameter" for row in run.history.rows]
    ratios = run.history.series["update"].spans().mean[:, is_weight]
    assert np.isfinite(ratios).tolist() == [[True, False], [True, True], [True, True]]


def three_steps(library: Any, weights: dict[str, Any], is_scaled: bool) -> Any:
    """A run of a model with a shared layer, a frozen bias and clipping; the library is ours or PyTorch."""
    nn = library.nn
    shared = nn.Linear(3, 3)
    model = nn.Sequential(shared, nn.Tanh(), shared, nn.ReLU(), nn.Linear(3, 2))
    model[4].bias.requires_grad_(False)
    model.load_state_dict({name: library.tensor(values) for name, values in weights.items()})
    optimizer = library.optim.SGD(model.parameters(), lr=0.1)
    clip, scaler = nn.utils.clip_grad_norm_, library.amp.GradScaler("cpu", init_scale=2.0, enabled=is_scaled)
    with av.watch(model, stop=False) as run:
        for step in range(3):
            optimizer.zero_grad()
            for sign in (1.0, -1.0):  # two passes
                loss = model(library.tensor([[0.5, -1.0, 2.0 * sign]])).sum() * (float("inf") if step == 2 else 1.0)
                scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            clip(model.parameters(), 0.1)
            scaler.step(optimizer)
            scaler.update()
            with library.no_grad():
                model(library.ones(1, 3))
    return run


@pytest.mark.torch
@pytest.mark.parametrize("is_scaled", [False, True])
def test_a_run_of_ours_and_one_of_pytorch_have_the_same_rows_and_numbers(is_scaled: bool) -> None:
    torch = pytest.importorskip("torch")
    layers = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))
    weights = {k: v.tolist() for k, v in layers.state_dict().items()}
    ours, theirs = three_steps(av, weights, is_scaled), three_steps(torch, weights, is_scaled)
    assert ours.history.rows == theirs.history.rows
    assert ours.history.marks == theirs.history.marks
    assert any(mark.kind == "skipped" for mark in ours.history.marks) == is_scaled
    for name in ("norm", "largest", "zeros", "update"):
        a, b = (run.history.series[name].spans() for run in (ours, theirs))
        assert np.allclose(a.mean, b.mean, rtol=1e-4, equal_nan=True), name
        assert (a.bad == b.bad).all(), name
    a, b = (run.totals() for run in (ours, theirs))
    assert [len(a[name]) for name in a] == [3] * len(a)
    for name in ("loss", "clip", "rate", "passes"):
        assert np.allclose(np.array(a[name], float), np.array(b[name], float), equal_nan=True), name


@pytest.mark.parametrize(("calls", "kept"), [(16, 16), (17, 1)])
def test_sixteen_calls_of_a_model_are_kept(calls: int, kept: int) -> None:
    model = nn.Linear(2, 1)
    with av.watch(model) as run:
        sum(model(av.ones(2)).sum() for _ in range(calls)).backward()
        assert len(run._loop.watch.moment().calls) == kept


def two_rates(torch: Any) -> Any:
    """Two optimizers with rates of their own; the second one's changes in the last step."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    optimizers = [torch.optim.SGD(part.parameters(), lr=rate) for part, rate in zip(model, (0.1, 0.01), strict=True)]
    with av.watch(model) as run:
        for k in range(3):
            optimizers[1].param_groups[0]["lr"] = 0.02 if k == 2 else 0.01
            model(torch.ones(3, 2)).sum().backward()
            for optimizer in optimizers:
                optimizer.step()
    return run


def check_two_rates(run: Any) -> None:
    assert [(m.step, m.text) for m in run.history.marks if m.kind == "rate"] == [(2, "0.01 → 0.02")]
    assert run.totals()["rate"] == pytest.approx([0.1] * 3)


def test_each_optimizer_has_its_rate() -> None:
    check_two_rates(two_rates(av))


@pytest.mark.torch
def test_each_optimizer_of_pytorch_has_its_rate() -> None:
    check_two_rates(two_rates(pytest.importorskip("torch")))


@pytest.mark.parametrize("suffix", [".svg", ".html", ".json", ".csv"])
def test_a_name_that_is_no_text_is_written_escaped(suffix: str, tmp_path: Path) -> None:
    """A lone surrogate."""
    net = av.nn.Sequential(av.nn.Linear(2, 2))
    net._modules["a\ud800"] = av.nn.Linear(2, 1)
    optimizer = av.optim.SGD(net.parameters(), lr=0.1)
    with av.watch(net) as run:
        net(av.ones(3, 2)).sum().backward()
        optimizer.step()
    av.save(run, tmp_path / f"run{suffix}")
    text = (tmp_path / f"run{suffix}").read_text(encoding="utf-8")
    assert "a\\ud800" in text or suffix in (".svg", ".html")
