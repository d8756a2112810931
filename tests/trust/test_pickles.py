"""What belongs to a living pass is not pickled or copied; a model that holds its run is."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av

NET = av.nn.Sequential(av.nn.Linear(2, 2), av.nn.Linear(2, 1))
WAYS: list[Callable[[Any], Any]] = [pickle.dumps, copy.deepcopy, copy.copy]


def loss() -> Any:
    return NET(av.ones(3, 2)).square().sum()


def an_answer(show: bool = False) -> Any:
    loss().backward()
    return av.explain(NET[0].weight, show=show)


def a_run() -> Any:
    run = av.watch(NET)
    run.close()
    return run


LIVING: dict[str, tuple[Callable[[], Any], str]] = {
    "stepper": (lambda: av.step(loss()), r"this stepper .* write it with av.save\(stepper, "),
    "stepper without a page": (lambda: av.step(loss()).stepper, r"this stepper .* write it with av.save\(stepper, "),
    "comparison": (lambda: av.compare(av.step(loss())), "this comparison .* write each of its steppers"),
    "map": (lambda: av.map(loss()), r"this map .* write it with av.save\(map, "),
    "run": (a_run, r"this run .* write it with av.save\(run, "),
    "explanation": (an_answer, r"this explanation .* str\(explanation\) is the answer"),
    "explanation with a picture": (lambda: an_answer(show=True), r"this explanation .* str\(explanation\) is the answer"),
    "widget": (lambda: av.show(loss()).widget(), "this stepper"),
    "live picture of a run": (lambda: a_run().widget(), "this widget .* av.save"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LIVING)
def test_what_belongs_to_a_pass_is_refused_in_plain_words(name: str, way: Callable[[Any], Any]) -> None:
    make, said = LIVING[name]
    with pytest.raises(TypeError, match=f"{said}"):
        way(make())


@pytest.mark.parametrize("way", WAYS)
def test_pictures_and_measures_are_pickled(way: Callable[[Any], Any]) -> None:
    """They hold numbers alone."""
    for shown in (av.show(loss(), detail="full"), av.memory(loss()), av.diff(loss(), loss().sqrt()), av.iframe(loss())):
        copied = way(shown)
        assert type(pickle.loads(copied) if isinstance(copied, bytes) else copied) is type(shown)


@pytest.mark.torch
def test_a_recorder_of_pytorch_is_refused() -> None:
    pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"this recorder .* record again"):
        copy.deepcopy(av.record())


@pytest.mark.parametrize("name", ["av", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("place", ["attribute", "inside", "list", "dictionary"])
def test_a_model_that_holds_its_run_is_copied_without_it(name: str, place: str) -> None:
    torch = av if name == "av" else pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    with av.watch(net) as run:
        if place == "inside":
            net[1].run = run
        else:
            net.run = {"attribute": run, "list": [run], "dictionary": {"run": run}}[place]
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.ones(3, 2)).square().sum().backward()
        optimizer.step()
        twin, read = copy.deepcopy(net), pickle.loads(pickle.dumps(net))
        for other in (twin, read):
            held = other[1].run if place == "inside" else other.run
            assert held in (None, [None], {"run": None})
            assert all((a == b).all() for a, b in zip(net.parameters(), other.parameters(), strict=True))
        assert len(run.totals()["loss"]) == 1  # it goes on


@pytest.mark.torch
def test_a_model_of_pytorch_that_holds_its_run_and_the_recorder_is_saved() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(2, 1)
    with av.watch() as net.recorder, av.watch(net) as net.run:
        file = io.BytesIO()
        torch.save(net, file)
        file.seek(0)
        read = torch.load(file, weights_only=False)
    assert (read.weight == net.weight).all() and read.run is None and read.recorder is None
