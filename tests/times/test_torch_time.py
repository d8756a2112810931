"""Timing PyTorch passes: what is measured, that it adds up, and that a program is as before."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.modules import module as hooks_of_all  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.timing import measure  # noqa: E402

from ..torch_models import MODELS  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "ENOUGH", 0.0)


def cnn() -> tuple[nn.Module, Callable[[], Any]]:
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Dropout(0.2), nn.Flatten(), nn.Linear(8 * 36, 4))
    x = torch.randn(4, 3, 8, 8)
    return model, lambda: model(x).square().mean()


@pytest.mark.parametrize("name", ["cnn_with_batch_norm", "lstm", "gpt2_two_layers", "encoder", "mlp"])
def test_every_op_and_node_is_timed_on_each_architecture(name: str) -> None:
    forward, _ = MODELS[name]()
    timed = av.time(forward)
    ahead, back = timed.report.timing.forward, timed.report.timing.backward
    document = timed.report.document
    with_op = {n.id for n in document.nodes if n.op is not None and n.variable is None}
    assert ahead is not None and set(back.seconds) == with_op and set(ahead.seconds) <= with_op
    assert len(set(ahead.seconds)) >= 0.9 * len(with_op)  # a view may run inside of another op
    assert len(ahead.whole) == len(ahead.parted) == measure.LEAST


def test_operations_are_those_of_pytorchs_counter() -> None:
    model, f = cnn()
    with FlopCounterMode(display=False) as counter:
        f().backward()
    rows = {row["module"]: row for row in av.time(f).table()}
    assert rows[""]["flops"] == counter.get_total_flops() == rows["0"]["flops"] + rows["4"]["flops"] > 0
    assert rows["4"]["backward_flops"] == 2 * rows["4"]["forward_flops"]  # for the weight, and for the input
    assert rows["1"]["flops"] == 0 and rows["0"]["forward_flops"] and rows["0"]["backward_flops"]
    assert model is not None


class Slow(torch.autograd.Function):
    """Waits, forward and backward."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        time.sleep(0.02)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        time.sleep(0.02)
        return grad


class Waits(nn.Module):
    """A module around it."""

    def forward(self, x: Any) -> Any:
        return Slow.apply(x)


def test_a_node_that_waits_comes_first() -> None:  # it waits 0.1 s in all
    model, x = nn.Sequential(nn.Linear(4, 4), Waits(), nn.Linear(4, 4)), torch.randn(2, 4)
    began = time.perf_counter()
    timed = av.time(lambda: model(x).sum())
    took = time.perf_counter() - began
    slowest = max(timed.table("node"), key=lambda row: row["backward"])
    assert slowest["op"] == "Slow" and slowest["module"] == "1" and slowest["code"] == "return Slow.apply(x)"
    assert 0.01 < slowest["backward"] < took  # seconds
    assert max(timed.table("line"), key=lambda row: row["backward"])["code"] == "return Slow.apply(x)"


def test_a_frozen_part_and_one_without_grad_stand_under_their_own_modules() -> None:
    model = nn.ModuleDict({"frozen": nn.Linear(4, 4), "teacher": nn.Linear(4, 4), "head": nn.Linear(4, 1)})
    model["frozen"].requires_grad_(False)
    x = torch.randn(8, 4)

    def f() -> Any:
        with torch.no_grad():
            target = model["teacher"](x).sum(1, keepdim=True)
        loss = (model["head"](model["frozen"](x)) - target).square().mean()
        torch.ones(3)  # outside of all modules
        return loss

    timed = av.time(f)
    forward = timed.report.timing.forward
    assert forward is not None and {b.module for b in forward.bare} == {"frozen", "teacher", ""}
    rows = {row["module"]: row for row in timed.table()}
    assert rows["frozen"]["backward"] == rows["teacher"]["backward"] == 0 < rows["frozen"]["forward"]
    assert rows["head"]["backward"] > 0 and rows["head"]["forward_flops"] == 2 * 8 * 4


def test_a_mask_of_dropout_is_timed_with_its_dropout() -> None:
    model, f = cnn()
    forward = av.time(f).report.timing.forward
    assert forward is not None and not forward.bare and model is not None


def test_a_program_is_as_before() -> None:
    model, f = cnn()
    opt = torch.optim.Adam(model.parameters())
    f().backward()
    opt.step()
    grads = [(p.grad, p.grad.clone(), p.grad._version) for p in model.parameters()]
    stepped: list[Any] = []
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(stepped.append)
    buffers = [(b, b.clone(), b._version) for b in model.buffers()]
    data, state = [p.detach().clone() for p in model.parameters()], torch.get_rng_state()
    of_all = [len(d) for d in (hooks_of_all._global_forward_hooks, hooks_of_all._global_forward_pre_hooks)]
    av.time(f)
    assert [p.grad for p in model.parameters()] == [g for g, _, _ in grads]
    assert all(torch.equal(g, values) and g._version == version for g, values, version in grads)
    assert all(now is b and torch.equal(b, values) for now, (b, values, _) in zip(model.buffers(), buffers, strict=True))
    assert [b._version for b, _, _ in buffers] == [version for _, _, version in buffers]
    assert all(torch.equal(p, values) for p, values in zip(model.parameters(), data, strict=True)) and not stepped
    assert torch.equal(torch.get_rng_state(), state)
    assert of_all == [len(d) for d in (hooks_of_all._global_forward_hooks, hooks_of_all._global_forward_pre_hooks)]
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_an_error_of_the_function_leaves_it_so_too() -> None:
    model, calls = nn.BatchNorm1d(4), list[int]()

    def f() -> Any:
        calls.append(1)
        loss = model(torch.randn(8, 4)).square().sum()
        if len(calls) == 3:
            raise ValueError("the third")
        return loss

    before, state = model.running_mean.clone(), torch.get_rng_state()
    with pytest.raises(ValueError, match="the third"):
        av.time(f)
    assert torch.equal(model.running_mean, before) and torch.equal(torch.get_rng_state(), state)


def test_of_a_loss_the_backward_pass_is_timed_and_its_graph_stays() -> None:
    model, f = cnn()
    with av.record(model):
        loss = f()
    timed = av.time(loss)
    assert timed.report.timing.forward is None and "has run already" in repr(timed)
    assert {row["module"] for row in timed.table() if row["backward"]} >= {"0", "1", "2", "4"}
    assert all(p.grad is None for p in model.parameters())
    loss.backward()
    assert all(p.grad is not None for p in model.parameters())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        av.time(loss)


def test_a_function_that_runs_other_ops_each_time_is_refused() -> None:
    w, calls = torch.ones(3, requires_grad=True), list[int]()

    def f() -> Any:
        calls.append(1)
        return sum((w * 2).sum() for _ in range(len(calls)))

    def without_nodes() -> Any:
        calls.append(1)
        return (w * sum(torch.ones(3) for _ in range(len(calls)))).sum()

    for function in (f, without_nodes):
        with pytest.raises(RuntimeError, match="must run the same ops each time"):
            av.time(function)


@pytest.mark.parametrize("what", [3, "loss", lambda: None, lambda: 3.0, av.ones(3, requires_grad=True), nn.Linear(2, 2)])
def test_what_is_no_loss_of_pytorch_is_refused(what: Any) -> None:
    with pytest.raises(av.NotDrawableError, match=r"time\(f\) takes"):
        av.time(what)
    with pytest.raises(RuntimeError, match="does not require grad"):
        av.time(lambda: torch.ones(3).sum())
    with pytest.raises(RuntimeError, match="a clock for cpu and cuda; the loss is on meta"):
        av.time(torch.ones(3, device="meta", requires_grad=True).sum())


def test_a_time_is_saved_as_a_picture_a_page_data_and_a_flame_chart(tmp_path: Path) -> None:
    model, f = cnn()
    timed = av.time(f)
    for suffix in ("svg", "png", "html", "json", "speedscope.json"):
        av.save(timed, tmp_path / f"t.{suffix}")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert data["device"] == "cpu" and len(data["node"]) == len(timed.table("node"))
    flames = json.loads((tmp_path / "t.speedscope.json").read_text(encoding="utf-8"))
    assert flames["shared"]["frames"][0]["name"] == "Sequential" and model is not None
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "Convolution" in page and "<svg" in page
    with pytest.raises(av.UnknownChoiceError, match="file suffix of a picture"):
        av.save(timed, tmp_path / "t.gif")
    assert timed.frame("op") is not None and timed._repr_mimebundle_()["image/svg+xml"].startswith("<svg")


def test_compiled_code_is_timed_as_a_whole() -> None:  # Dynamo needs seconds to load
    model, x = nn.Linear(4, 4), torch.randn(2, 4)
    compiled = torch.compile(model, backend="aot_eager")
    timed = av.time(lambda: compiled(x).square().sum())
    assert "compiled code" in repr(timed)
    assert any("Compiled" in row["op"] or "compiled" in row["op"].lower() for row in timed.table("node"))
