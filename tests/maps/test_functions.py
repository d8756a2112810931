"""The user's functions on the map: a function that calls modules is a card with them in it."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.errors import DocumentError
from autograd_viz.graph import document_from_json, document_to_json
from autograd_viz.graph.model import Document
from autograd_viz.graph.references import check_references
from autograd_viz.graph.surroundings import Call
from autograd_viz.graph.trace import Trace
from autograd_viz.pictures.maps.cards import Card
from autograd_viz.pictures.maps.plan import Plan
from autograd_viz.sources.anything import graph_of

torch = pytest.importorskip("torch")
nn: Any = torch.nn
pytestmark = pytest.mark.torch
Tree = list[Any]


def passed_on(function: Any) -> Any:
    """A decorator."""

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


class Coder(nn.Module):  # type: ignore[misc]
    """An autoencoder whose forward calls its methods."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.back = nn.Linear(4, 3), nn.Linear(3, 3), nn.Linear(3, 4)

    def encode(self, x: Any) -> Any:
        return self.second(self.first(x).tanh())

    def decode(self, z: Any) -> Any:
        return self.back(z)

    @passed_on
    def forward(self, x: Any) -> Any:
        return self.decode(self.encode(x))


def distance(coder: Any, x: Any, y: Any) -> Any:
    """A loss that calls a network twice."""
    return (coder.encode(x) - coder.encode(y)).square().mean()


def tree_of(card: Card) -> Tree:
    """Titles, nested."""
    return [[item.title, *tree_of(item)] if item.items else item.title for item in card.items if item.kind != "root"]


def recorded(model: Any, run: Any) -> Document:
    """The document of what `run` returns."""
    with av.record(model):
        loss = run()
    document: Document = graph_of(loss, {"model": model}).document
    return document


def test_a_function_that_calls_modules_is_a_card_and_one_that_calls_one_is_none() -> None:
    model = Coder()
    document = recorded(model, lambda: model(torch.ones(2, 4)).sum())
    assert tree_of(Plan(document).root) == [["encode()", "first", "Tanh", "second"], "back", "Sum"]


def test_each_call_of_a_function_is_a_card_in_the_function_that_calls_it() -> None:
    model = Coder()
    x, y = torch.ones(2, 4), torch.zeros(2, 4)
    document = recorded(model, lambda: distance(model, x, y) + model(x).sum())
    assert tree_of(Plan(document).root)[0] == [
        "distance()",
        ["encode()", "first", "Tanh", "second"],
        ["encode()", "first", "Tanh", "second"],
        "Sub, Pow, Mean",
    ]
    assert [(c.name, c.above) for c in document.calls[:3]] == [("distance", None), ("encode", 0), ("encode", 0)]


def test_equal_calls_of_a_function_are_folded() -> None:
    model = Coder()

    def run() -> Any:
        return torch.stack([model.encode(torch.full((2, 4), float(k))) for k in range(3)]).sum()

    plan = Plan(recorded(model, run))
    stack = plan.root.items[0]
    assert (stack.title, stack.kind, stack.count) == ("encode()", "stack", 3)
    assert plan.labels.kind_of(stack) == "× 3"


def test_a_function_inside_a_module_is_in_the_card_of_the_module() -> None:
    model = nn.ModuleDict({"coder": Coder(), "head": nn.Linear(4, 1)})
    document = recorded(model, lambda: model["head"](model["coder"](torch.ones(2, 4))).sum())
    assert tree_of(Plan(document).root)[:2] == [["coder", ["encode()", "first", "Tanh", "second"], "back"], "head"]
    assert {c.module for c in document.calls} == {"coder"}


def test_what_is_around_all_ops_is_no_card() -> None:
    model = Coder()
    document = recorded(model, lambda: distance(model, torch.ones(2, 4), torch.zeros(2, 4)))
    assert [c.name for c in document.calls] == ["encode", "encode"]
    assert [item.title for item in Plan(document).root.items][:2] == ["encode()", "encode()"]


def test_where_modules_are_unknown_only_functions_around_them_are_known() -> None:
    model = Coder()
    document = recorded(None, lambda: distance(model, torch.ones(2, 4), torch.zeros(2, 4)) + model(torch.ones(1, 4)).sum())
    assert [c.name for c in document.calls] == ["distance", "encode", "encode"]


def test_a_card_of_a_function_is_opened_by_its_name_and_says_its_parameters() -> None:
    model = Coder()
    plan = Plan(recorded(model, lambda: model(torch.ones(2, 4)).sum()))
    card = plan.card("encode()")
    assert card.id in plan.opened(1, ("enc*",))
    assert [line.name for line in plan.labels.all_lines(card)] == ["first.weight", "first.bias", "second.weight", "second.bias"]


def test_a_step_over_the_card_of_a_function_runs_all_its_nodes() -> None:
    model = Coder()
    x, y = torch.ones(2, 4), torch.zeros(2, 4)
    with av.record(model):
        loss = model(model(x)).sum() + distance(model, x, y) + distance(model, y, x)
    s = av.step(loss)
    s.run_to("distance()")
    assert model.first.weight.grad is None
    s.leave("distance()")
    assert s.did.startswith("distance(): ")
    ran = {step.node for step in s.stepper.recorded}
    assert ran >= set(s.drawing.plan.members[s.drawing.plan.card("distance()").id])


def test_nothing_of_a_function_is_kept_after_the_recording() -> None:
    kept: list[Any] = []

    def run() -> Any:
        local = nn.Linear(4, 1)
        kept.append(weakref.ref(local))
        return local(torch.ones(2, 4)).detach()

    with av.record():
        run()
    assert kept[0]() is None


def test_calls_are_saved_and_a_file_without_them_loads() -> None:
    model = Coder()
    document = recorded(model, lambda: model(torch.ones(2, 4)).sum())
    assert document_from_json(document_to_json(document)) == document
    without = dataclasses.replace(document, calls=(), ops=tuple(dataclasses.replace(o, call=None) for o in document.ops))
    assert '"call' not in document_to_json(without)
    assert document_from_json(document_to_json(without)) == without


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ((), "names call 0, which does not exist"),
        ((Call("a", above=0), Call("b")), "call 0 is in call 0, which does not come before it"),
        ((Call("a"), *(Call("b", above=k) for k in range(200))), "calls nest more than 100 deep"),
    ],
)
def test_a_file_with_calls_that_do_not_nest_is_refused(calls: tuple[Call, ...], message: str) -> None:
    model = Coder()
    document = recorded(model, lambda: model(torch.ones(2, 4)).sum())
    with pytest.raises(DocumentError, match=message):
        check_references(dataclasses.replace(document, calls=calls), Trace())
