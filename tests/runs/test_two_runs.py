"""Two runs side by side, and the same batch measured every so often."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
import autograd_viz.twin as tw
from autograd_viz.twin.core.base import events
from autograd_viz.verbs.diff_runs import RunDifference
from autograd_viz.verbs.watch import Run

SAME_BEFORE = "All that was measured before is the same: the data, random numbers or the last update may differ."
SAME_WEIGHTS = "The loss of the probe batch is the same: the data, random numbers or the loss function may differ."


def trained(
    lr: float = 0.1, steps: int = 12, other: int = 99, decay: float = 0.0, wide: int = 4, probe: Any = None, adam: bool = False
) -> Run:
    """A run; in the step `other` and after it the data are others."""
    tw.manual_seed(0)
    model = tw.nn.Sequential(tw.nn.Linear(3, wide), tw.nn.Tanh(), tw.nn.Linear(wide, 1))
    x = tw.randn(8, 3)
    optimizer = (tw.optim.Adam if adam else tw.optim.SGD)(model.parameters(), lr=lr, weight_decay=decay)
    with av.watch(model, probe=probe) as run:
        for k in range(steps):
            loss = (model(x if k < other else x + 1) - x[:, :1]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return run


def compared(a: Any, b: Any, **options: Any) -> RunDifference:
    found = av.diff(a, b, **options)
    assert isinstance(found, RunDifference)
    return found


def test_the_same_program_twice_is_the_same_to_the_bit() -> None:
    found = compared(trained(), trained())
    assert found.first is None
    assert found.sentences == ["Nothing that was measured differs by a bit: losses, norms of gradients, updates of 12 steps."]


@pytest.mark.parametrize(
    ("change", "step", "kind", "said"),
    [
        ({"lr": 0.05}, 0, "update", "lr differs: 0.1 in a, 0.05 in b."),
        ({"decay": 0.1}, 0, "update", "weight_decay differs: 0.0 in a, 0.1 in b."),
        ({"adam": True}, 0, "update", "optimizer differs: SGD in a, Adam in b."),
        (
            {"other": 5},
            5,
            "loss",
            "All that was measured before is the same: the data, random numbers or the last update may differ.",
        ),
        ({"other": 0}, 0, "loss", "It is the first loss: weights, data, random numbers or code may differ."),
    ],
)
def test_the_first_step_at_which_they_part_is_found_and_which_setting_differs(
    change: dict[str, Any], step: int, kind: str, said: str
) -> None:
    found = compared(trained(), trained(**change))
    assert found.first is not None
    assert (found.first.step, found.first.kind) == (step, kind)
    assert said in found.sentences
    assert [s for s in found.sentences if " differs: " in s] == [said] * (" differs: " in said)


def test_a_backward_pass_that_differs_is_told_apart_from_data() -> None:
    runs = []
    for factor in (1.0, 2.0):
        model = tw.nn.Linear(2, 1)
        with tw.no_grad():
            model.weight.fill_(0.5), model.bias.fill_(0.0)
        optimizer = tw.optim.SGD(model.parameters(), lr=0.1)
        with av.watch(model) as run:
            loss = model(tw.ones(4, 2)).pow(2).mean()
            loss.backward()
            model.weight.grad.mul_(factor)
            optimizer.step()
        runs.append(run)
    found = compared(*runs)
    assert found.first is not None
    assert (found.first.step, found.first.kind, found.first.path) == (0, "gradient", "weight")
    assert found.first.b == pytest.approx(2 * found.first.a)
    assert "The loss is the same: the backward pass differs, or what it was given." in found.sentences


def test_a_difference_below_the_tolerance_is_no_parting_and_one_that_grew_is_not_explained_away() -> None:
    first, second = trained(steps=60), trained(lr=0.1 + 1e-6, steps=60)
    near = compared(first, second)
    assert near.first is None
    assert near.sentences[0].startswith("No loss or gradient differs by more than 0.001 of its size")
    grown = compared(first, second, rtol=2e-5)
    assert grown.first is not None
    assert grown.first.step > 0
    assert any(s.startswith("A smaller difference came before, first in step 0: of the update of") for s in grown.sentences)
    assert not any("may differ" in s for s in grown.sentences)


def test_what_only_one_run_has_and_another_length_are_said() -> None:
    found = compared(trained(steps=4), trained(steps=7, wide=6))
    said = " ".join(found.sentences)
    assert "parameters differs: 21 in a, 31 in b." in said
    assert "a has 4 steps, b has 7: only steps of both are compared." in said


def test_saved_runs_say_what_live_ones_say(tmp_path: Path) -> None:
    runs = {"one": trained(), "two": trained(lr=0.05)}
    one, two = runs.values()
    for name, run in runs.items():
        av.save(run, tmp_path / f"{name}.json")
    saved = compared(tmp_path / "one.json", str(tmp_path / "two.json"))
    assert saved.titles == ("one", "two")
    live = [s.replace(" in a", " in one").replace(" in b", " in two") for s in compared(one, two).sentences]
    assert saved.sentences == live
    assert saved.table("step") == compared(one, two).table("step")
    assert compared(one, tmp_path / "one.json").first is None


def test_it_is_saved_as_picture_page_and_json(tmp_path: Path) -> None:
    found = compared(trained(), trained(other=5))
    for suffix in ("svg", "html", "json"):
        av.save(found, tmp_path / f"d.{suffix}")
    assert found.sentences[0] in (tmp_path / "d.svg").read_text(encoding="utf-8")
    whole = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert whole["sentences"] == found.sentences
    rows = {(row["kind"], row["name"]): row["first"] for row in whole["rows"]}
    assert rows["loss", ""] == 5
    assert [line["step"] for line in whole["steps"]] == [*range(12)]
    with pytest.raises(ValueError, match="'row' or 'step'"):
        found.table("tensor")


def test_a_run_is_compared_with_a_run_only(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"compares two runs .* got Tensor"):
        av.diff(trained(steps=2), tw.ones(2, requires_grad=True).sum())


@pytest.mark.parametrize(
    "damage",
    [
        lambda run: run["table"].pop("norm"),
        lambda run: run["totals"].pop("rate"),
        lambda run: run["table"].update(step=3),
        lambda run: run.update(settings=[1]),
        lambda run: run.update(steps="many"),
        lambda run: run["table"]["norm"].append("x"),
        lambda run: run["table"].update(path=[1] * len(run["table"]["path"])),
        lambda run: run.update(settings={"lr": [1]}),
        lambda run: run["totals"].update(step=[0.0, 1.0, 2.0]),
    ],
)
def test_a_damaged_run_is_refused(damage: Callable[[Any], object], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    run = trained(steps=3)
    av.save(run, path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    damage(whole)
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(av.DocumentError):
        av.diff(run, path)


def test_a_file_that_is_nested_too_deeply_is_refused_as_any_other(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(av.DocumentError):
        av.diff(path, path)


def test_a_layer_that_gets_no_gradient_in_one_run_is_there_in_both() -> None:
    runs = []
    for is_cut in (False, True):
        tw.manual_seed(0)
        model = tw.nn.Sequential(tw.nn.Linear(3, 4), tw.nn.Linear(4, 1))
        optimizer = tw.optim.SGD(model.parameters(), lr=0.1)
        with av.watch(model) as run:
            hidden = model[0](tw.ones(2, 3))
            model[1](hidden.detach() if is_cut else hidden).pow(2).mean().backward()
            optimizer.step()
        runs.append(run)
    said = compared(*runs).sentences
    assert "Only in a a gradient arrived at 0.weight, 0.bias." in said


def test_without_a_loss_the_backward_pass_is_not_accused_alone() -> None:
    runs = []
    for scale in (1.0, 2.0):
        model = tw.nn.Linear(2, 2)
        with tw.no_grad():
            model.weight.fill_(0.5)
        optimizer = tw.optim.SGD(model.parameters(), lr=0.1)
        with av.watch(model) as run:
            model(tw.ones(4, 2) * scale).backward(tw.ones(4, 2))
            optimizer.step()
        runs.append(run)
    said = compared(*runs).sentences
    assert "No loss was measured in both: the forward pass may differ, or the backward pass." in said
    assert not any("The loss is the same" in s for s in said)


def squared(model: Any) -> Any:
    return model(tw.ones(2, 3)).pow(2).mean()


def test_a_probe_measures_the_same_batch_and_changes_nothing() -> None:
    plain, probed = trained(steps=101), trained(steps=101, probe=squared)
    losses = np.array(probed.flushed().totals.last(101))[:, 4]
    assert [*np.flatnonzero(~np.isnan(losses))] == [0, 50, 100]
    assert len({*losses[[0, 50, 100]]}) == 3
    found = compared(plain, probed)
    assert found.first is None
    assert "differs by a bit" in found.sentences[0]


def test_other_data_are_told_apart_from_other_weights_by_a_probe() -> None:
    found = compared(trained(probe=squared), trained(other=0, probe=squared))
    assert (
        "The loss of the probe batch is the same: the data, random numbers or the loss function may differ." in found.sentences
    )
    assert "probe" in {row["kind"] for row in found.table()}


def test_a_probe_without_a_loss_is_refused_at_once() -> None:
    model, before = tw.nn.Linear(3, 2), events.passing
    with pytest.raises(TypeError, match=r"probe= needs a loss, and the model gives shape \(4, 2\)"):
        av.watch(model, probe=tw.ones(4, 3))
    assert events.passing is before


@pytest.mark.torch
def test_a_probe_of_pytorch_is_unseen_by_the_program() -> None:
    import torch

    def run(probe: Any) -> tuple[list[float], Any, list[str]]:
        torch.manual_seed(0)
        seen: list[str] = []
        model = torch.nn.Sequential(
            torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1)
        )
        optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
        with av.watch(model, probe=probe) as watched:
            for _ in range(60):
                loss = model(torch.randn(8, 3)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        return losses, watched, [*seen, *map(str, model[1].running_mean.tolist())]

    plain, _, before = run(None)
    probed, watched, after = run(lambda model: model(torch.ones(4, 3)).pow(2).mean())
    assert (probed, after) == (plain, before)
    assert watched.history.settings["optimizer"] == "SGD"
    assert watched.history.settings["input"] == "(8, 3)"
    assert np.isfinite(np.array(watched.flushed().totals.last(60))[[0, 50], 4]).all()
