"""A budget of memory: the cheapest checkpoints that keep it, what stays, and what is said."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.memory.advice import sentences_of
from autograd_viz.pictures.memory.budget import Plan, plan_of, works_of
from autograd_viz.pictures.memory.checkpoints import Checkpoints
from autograd_viz.twin import nn
from autograd_viz.twin.utils.checkpoint import checkpoint

from .models import Net, memory_of


class Chain(nn.Module):
    """Layers of different widths, each with two activations. Those in `checkpointed` compute again."""

    def __init__(self, *checkpointed: int) -> None:
        super().__init__()
        widths = (2, 9, 4, 16, 6, 3)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(4, w), nn.Tanh(), nn.Linear(w, 4), nn.Tanh()) for w in widths)
        self.checkpointed = checkpointed

    def forward(self, x: Any) -> Any:
        for i, layer in enumerate(self.layers):
            again = i in self.checkpointed
            x = checkpoint(layer, x, use_reentrant=False, preserve_rng_state=False) if again else layer(x)
        return x


def test_the_plan_is_the_cheapest_of_all_choices() -> None:
    report = memory_of(Chain()).report
    found = Checkpoints(report.facts, report.curve)
    works = works_of(found)
    layers = [path for path in found.parts if len(path) == 2]
    assert len(layers) == 6
    choices = [c for n in range(len(layers) + 1) for c in itertools.combinations(layers, n)]
    peaks = {c: max(found.heights_with(c)) for c in choices}
    found.parts = {path: found.parts[path] for path in layers}
    for budget in {*peaks.values()}:
        plan = plan_of(found, budget, stays=0)
        assert plan.peak == max(found.heights_with(plan.paths)) <= budget
        least = min(sum(works[path] for path in c) for c, peak in peaks.items() if peak <= budget)
        assert plan.work == plan.bound == least
    smallest = plan_of(found, 1, stays=0)
    assert not smallest.fits and smallest.peak == min(peaks.values())


@pytest.mark.parametrize(
    ("last", "named"),
    [(1, r"layers\.0, layers\.1 and head"), (2, r"layers\.0 … layers\.2 and head"), (4, r"layers\.0 … layers\.4 and head")],
)
def test_more_than_two_neighbours_of_a_list_are_named_as_one(last: int, named: str) -> None:
    paths = (*(("layers", str(i)) for i in range(last + 1)), ("head",))
    plan = Plan(budget=100, paths=paths, heights=[50], stays=0, work=1, forward=10, bound=None)
    facts: Any = SimpleNamespace(is_guessed=True, document=SimpleNamespace(modules=()))
    assert re.search(named, sentences_of(plan, facts, before=200)[0])


class Handing(nn.Module):
    """Two parts: the first has saved what it hands over, and the second does not save it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), Shift()

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x))


class Shift(nn.Module):
    """Saves what it makes, and not its input."""

    def forward(self, x: Any) -> Any:
        return (x + 1.0).exp().tanh()


def test_checkpoints_that_depend_on_each_other_keep_the_budget_and_no_false_bound_is_said() -> None:
    net, x = nn.Sequential(*(Handing() for _ in range(4))), av.ones(8, 4)
    loss = net(x).square().mean()
    report = av.memory(loss).report
    found = Checkpoints(report.facts, report.curve)
    found.parts = {path: part for path, part in found.parts.items() if len(path) == 2}
    works, parts = works_of(found), [*found.parts]
    choices = [c for n in range(len(parts) + 1) for c in itertools.combinations(parts, n)]
    peaks = {c: max(found.heights_with(c)) for c in choices}
    for budget in {*peaks.values()}:
        plan = plan_of(found, budget, stays=0)
        least = min(sum(works[path] for path in c) for c, peak in peaks.items() if peak <= budget)
        assert plan.peak == peaks[tuple(p for p in parts if p in plan.paths)] <= budget
        assert least <= plan.work <= 1.5 * least and (plan.bound is None or plan.bound <= least)


class Gate(nn.Module):
    """Its input is used first and last; only the last use saves it."""

    def __init__(self, is_checkpointed: bool) -> None:
        super().__init__()
        self.part, self.is_checkpointed = Gated(), is_checkpointed

    def forward(self, x: Any) -> Any:
        x = x.exp() + 1.0
        return checkpoint(self.part, x, use_reentrant=False, preserve_rng_state=False) if self.is_checkpointed else self.part(x)


class Gated(nn.Module):
    """A row of activations, then a product with the input."""

    def forward(self, x: Any) -> Any:
        h = x + 1.0
        for _ in range(4):
            h = h.tanh()
        return h * x


def test_an_input_is_held_until_the_last_node_of_its_checkpoint() -> None:
    once, again, x = Gate(False), Gate(True), av.ones(8, 4, requires_grad=True)
    plain, done = av.memory(once(x).sum()), av.memory(again(x).sum())
    found = Checkpoints(plain.report.facts, plain.report.curve)
    promised = found.heights_with([("part",)])
    assert promised == [row["bytes"] for row in done.table("call")] and promised[-5] > found.heights[-5]


@pytest.mark.parametrize("share", [0.95, 0.85, 0.75])
def test_the_peak_of_a_plan_is_that_of_the_model_with_its_checkpoints(share: float) -> None:
    plain = memory_of(Chain())
    limit = int(share * plain.peak)
    report = plain.report
    found = Checkpoints(report.facts, report.curve)
    found.parts = {path: part for path, part in found.parts.items() if len(path) == 2}
    plan = plan_of(found, limit, stays=0)
    assert plan.paths and memory_of(Chain(*(int(path[1]) for path in plan.paths))).peak == plan.peak


def test_parameters_inputs_the_state_of_an_optimizer_and_grads_are_in_the_sum() -> None:
    model, x = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)), av.ones(4, 8)
    size = 4 * sum(p.numel() for p in model.parameters())
    memory = av.memory(model(x).sum())
    assert memory.report.stays == {"parameter": size, "input": 4 * 32, "optimizer": 0, "grads": 0}
    opt = av.optim.Adam(model.parameters(), amsgrad=True)
    (loss := model(x).sum()).backward()
    memory = av.memory(loss := model(x).sum())
    assert memory.report.stays == {"parameter": size, "input": 128, "optimizer": 3 * size, "grads": size}
    assert memory.total == memory.peak + sum(memory.report.stays.values())
    assert "optimizer state from the first step on" in repr(memory)
    loss.backward()
    opt.step()
    after = av.memory(model(x).sum())
    assert after.report.stays["optimizer"] == 3 * size  # what it holds is what was foreseen
    assert (
        "parameters, inputs, optimizer state and grads" in repr(after)
        and "from the first step" not in repr(after)
        and "optimizer state" in after.svg
    )


def test_an_optimizer_of_another_model_is_not_in_the_sum() -> None:
    model, other, x = nn.Linear(4, 1), nn.Linear(100, 100), av.ones(2, 4)
    held = [av.optim.Adam(other.parameters())]
    opt = held[0]
    memory = av.memory(model(x).sum())
    assert memory.report.stays["optimizer"] == 0 and memory.report.stays["parameter"] == 20 and opt is held[0]


def test_a_plan_says_what_it_lowers_what_it_costs_and_its_code() -> None:
    net, x = Net(), av.ones(8, 4)
    loss = net(x).square().mean()
    before = av.memory(loss)
    memory = av.memory(loss, budget=int(0.9 * before.total))
    assert memory.plan is not None and memory.plan.fits
    names = [".".join(path) for path in memory.plan.paths]
    assert re.search(
        r"around .* lowers the peak from .* to .* \(budget .*\); \d+% of the forward pass is computed again", repr(memory)
    )
    assert memory.code.startswith("from autograd_viz.utils.checkpoint import checkpoint")
    calls = [line.partition("(")[2].partition(",")[0] for line in memory.code.splitlines()[2:]]
    assert [re.sub(r"\[(\d+)\]", r".\1", call) for call in calls] == [f"net.{name}" for name in names]
    assert memory.to_dict()["plan"]["modules"] == names and memory.to_dict()["plan"]["peak_before"] == before.total
    assert "checkpoint(net" in memory.to_html() and "with the checkpoints: peak" in memory.svg and "budget" not in before.svg


def test_a_budget_that_is_kept_already_and_one_that_none_keeps_are_said() -> None:
    net, x = Net(), av.ones(8, 4)
    loss = net(x).square().mean()
    assert "without checkpoints" in repr(av.memory(loss, budget="8 GB")) and av.memory(loss, budget="8 GB").code == ""
    none = av.memory(loss, budget=100)
    assert none.plan is not None and not none.plan.fits
    assert re.search(r"no plan fits 100 B: the smallest peak is .*, with a checkpoint around each of blocks", repr(none))
    assert none.plan.peak < none.total
    leaf = av.ones(4, requires_grad=True)
    assert "no plan fits 10 B" in repr(av.memory(leaf.exp().sum(), budget=10))


def test_a_batch_norm_in_training_counts_twice_and_one_in_eval_does_not() -> None:
    def said(is_training: bool) -> str:
        net = nn.Sequential(*(nn.Sequential(nn.Linear(4, 64), nn.BatchNorm1d(64), nn.Linear(64, 4)) for _ in range(4)))
        net.train(is_training)
        loss = net(av.ones(64, 4)).square().mean()
        return repr(av.memory(loss, budget=int(0.8 * av.memory(loss).total)))

    assert "updates its running statistics twice" in said(True)
    assert "a checkpoint around" in said(False) and "running statistics" not in said(False)


@pytest.mark.parametrize("budget", ["8 bananas", "8 GBB", "1.2.3 MB", "GB", "8 Gi"])
def test_a_budget_that_is_no_size_is_refused(budget: str) -> None:
    with pytest.raises(ValueError, match="budget must be a number of bytes or a size"):
        av.memory(av.ones(2, requires_grad=True).sum(), budget=budget)
