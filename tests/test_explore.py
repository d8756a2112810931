"""Sliders on the leaves of a function: what is said and shown at each value, and what a run leaves alone."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.cli import tab


def product(x: Any, w: Any) -> Any:
    y = x * w
    return y * y


def branch(x: Any) -> Any:
    return x.log() if x.item() > 1 else x * 3


def test_a_move_runs_the_function_and_its_backward_pass() -> None:
    e = av.explore(product, x=2.0, w=-3.0)
    assert e.set(x=1.0) == (
        "The output is 9.0, and x.grad is 18.0. x + 0.1: the output changes by 1.89. grad × change = 18.0 × 0.1 = 1.8."
    )
    now = e.recorded
    written = {at: "".join(run[0] for line in lines for run in line) for at, lines in now["lines"].items()}
    assert (written["t0.data"], written["t0.grad"], written["t1.grad"]) == (
        "data = tensor(1.)", "grad = tensor(18.)", "grad = tensor(-6.)",
    )  # fmt: skip
    root = e.explorer.ran.document.roots[0]
    assert (now["titles"]["brief"]["t0"], now["titles"]["names"]["t0"]) == ("x = 1.0", "x")
    assert now["titles"]["names"][root] == "9.0"  # no name, no row
    assert "av.explore" not in e.svg and "y = x * w" in e.svg  # a leaf has no line of the user's
    assert (now["grads"], now["output"], now["grad"]) == ({"x": "18.0", "w": "−6.0"}, 9.0, 18.0)


def test_the_curve_is_that_of_the_chosen_leaf_and_stays_while_it_moves() -> None:
    e = av.explore(product, x=2.0, w=-3.0)
    along = e.recorded["curve"]
    assert (along["x"][0], along["x"][-1]) == (-5, 5)
    assert along["y"] == pytest.approx([9 * x * x for x in along["x"]], rel=1e-5)
    e.set(x=1.0)
    assert e.recorded["curve"] is along or e.recorded["curve"] == along
    e.set(w=1.0)
    assert e.recorded["curve"]["y"] == pytest.approx([w * w for w in e.recorded["curve"]["x"]], rel=1e-5)


def test_another_path_is_drawn_anew_and_said_and_the_same_path_is_not() -> None:
    e = av.explore(branch, x=2.0)
    first = e.recorded["shape"]
    assert "another path" not in e.set(x=3.0) and e.recorded["shape"] == first
    assert "another path" in e.set(x=0.5) and len(e.data["pictures"]) == 2
    assert "another path" in e.set(x=2.0) and e.recorded["shape"] == first


def test_another_number_in_an_op_is_no_other_path() -> None:
    e = av.explore(lambda x: x * math.cos(x.item()), x=2.0)
    for value in (1.0, 0.5, 3.0):
        assert "another path" not in e.set(x=value)
    picture = e.explorer.pictures.known[e.recorded["shape"]]
    assert f"{math.cos(3.0):.2f}" in picture["svg"]  # the op's number is drawn anew


def test_a_slow_function_has_neither_curve_nor_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograd_viz.verbs.explorer.MOST_SECONDS", 0.0)
    e = av.explore(product, x=2.0, w=-3.0)
    assert e.recorded["curve"] == {"x": [], "y": []} and not e.explorer.is_quick


def test_an_error_is_said_and_loses_nothing() -> None:
    e = av.explore(lambda x: x * math.log(x.item()), x=2.0)
    before = e.recorded["lines"]
    said = "At x = −1.0 the function stops: ValueError: math domain error. The figure shows the last values that worked."
    assert e.set(x=-1.0) == said
    assert e.recorded["lines"] == before and e.values == {"x": [-1.0]}
    assert e.set(x=1.0).startswith("The output is 0.0")


def test_nan_is_shown_and_the_page_can_read_it() -> None:
    e = av.explore(lambda x: x.log(), x=2.0)
    assert e.set(x=-1.0).startswith("The output is nan, and x.grad is −1.0.")
    json.dumps(e.recorded, allow_nan=False)
    assert e.recorded["curve"]["y"][0] is None and e.recorded["output"] is None


def test_a_vector_moves_an_element_at_a_time_and_a_cut_leaf_has_no_gradient() -> None:
    e = av.explore(lambda v, k: (v * v).sum() * k.detach(), v=[1.0, 2.0], k=3.0)
    now = e.explorer.answer({"leaf": "v", "element": 1, "delta": 0.5, "values": {"v": [1.0, 4.0]}})
    assert now["said"] == "The output is 51.0, and v[1].grad is 24.0."
    assert now["nudge"] == "v[1] + 0.5: the output changes by 12.75. grad × change = 24.0 × 0.5 = 12.0."
    assert "k.grad is None" in e.set(k=2.0) and "grad ×" not in e.recorded["nudge"]


def test_a_run_leaves_other_grads_random_numbers_and_given_tensors_alone() -> None:
    weight, given = av.tensor(3.0, requires_grad=True), av.tensor([1.0, 2.0], requires_grad=True)
    weight.grad = av.tensor(7.0)
    av.manual_seed(0)
    states = random.getstate(), np.random.get_state()[1].tolist(), av.get_rng_state().tolist()
    e = av.explore(lambda v: (v * weight + av.randn(2)).sum(), v=given)
    first = e.recorded["output"]
    e.set(v=[5.0, 5.0])
    e.set(v=[1.0, 2.0])
    assert e.recorded["output"] == first  # the same noise
    assert (weight.grad.item(), given.grad, given.tolist()) == (7.0, None, [1.0, 2.0])
    assert states == (random.getstate(), np.random.get_state()[1].tolist(), av.get_rng_state().tolist())


def test_what_the_function_prints_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    def told(x: Any) -> Any:
        print("run")
        return x * x

    av.explore(told, x=1.0).set(x=2.0)
    assert capsys.readouterr().out == "run\n"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="takes a function"):
        av.explore(3.0, x=1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a leaf with a slider"):
        av.explore(product)
    with pytest.raises(TypeError, match="must return a tensor"):
        av.explore(lambda x: 1.0, x=1.0)
    with pytest.raises(ValueError, match=r"takes x, w, with all elements of each; got y=1.0"):
        av.explore(product, x=2.0, w=1.0).set(y=1.0)
    with pytest.raises(ZeroDivisionError):
        av.explore(lambda x: x / 0 if x.item() < 0 else 1 / 0, x=1.0)


def test_a_page_with_recorded_runs_and_a_picture_are_saved(tmp_path: Path) -> None:
    e = av.explore(product, x=2.0, w=-3.0)
    data = e.explorer.page()
    assert len(data["runs"]) == 21 and e.values == {"x": [2.0], "w": [-3.0]}
    assert {run["values"]["w"][0] for run in data["runs"]} == {-3.0}
    av.save(e, tmp_path / "e.html")
    av.save(e, tmp_path / "e.svg")
    assert "Content-Security-Policy" in (tmp_path / "e.html").read_text() and "<svg" in (tmp_path / "e.svg").read_text()


def test_the_playground_answers_sliders(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = tab.Shown()
    shown.hook(av.explore(lambda x: x * x, x=3.0))
    assert [page["kind"] for page in shown.pages(None)] == ["explorer"]
    monkeypatch.setattr(tab, "shown_last", shown.things)
    told = json.loads(tab.ask(0, json.dumps({"leaf": "x", "element": 0, "delta": None, "values": {"x": [2.0]}})))
    assert told["recorded"]["said"] == "The output is 4.0, and x.grad is 4.0."


@pytest.mark.torch
def test_a_function_of_pytorch() -> None:
    import torch

    line = torch.nn.Linear(2, 1)
    e = av.explore(lambda v, k: line(v).sum() * torch.sigmoid(k), v=[1.0, 2.0], k=0.5)
    e.set(k=1.0)
    v, k = torch.tensor([1.0, 2.0]), torch.tensor(1.0, requires_grad=True)
    (line(v).sum() * torch.sigmoid(k)).backward()
    assert k.grad is not None and e.recorded["grad"] == pytest.approx(k.grad.item(), rel=1e-6)
    with torch.no_grad():
        assert e.recorded["output"] == pytest.approx((line(v).sum() * torch.sigmoid(k)).item(), rel=1e-6)
    line.zero_grad()
    e.set(k=2.0)
    assert line.weight.grad is None
