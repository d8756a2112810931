"""Parts that make no graph: a teacher under `no_grad`, a frozen tower. They ran, so a map of the recorded pass shows them."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.cards import walk
from autograd_viz.sources.anything import graph_of

from .test_map import words_of
from .test_odd import pink
from .test_recognised import titles

torch = pytest.importorskip("torch")
from torch.multiprocessing.reductions import StorageWeakRef  # noqa: E402
from torch.nn import Linear, Module, ReLU, Sequential, Tanh  # noqa: E402

pytestmark = pytest.mark.torch
DEEP = 60  # layers with two ops each


class Pair(Module):
    """A teacher and its student."""

    def __init__(self, *teacher: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.teacher, self.student = Sequential(*teacher), Sequential(Linear(4, 4), Tanh(), Linear(4, 3))


def recorded(model: Any, with_grad: bool, after: Any = lambda t: t) -> Any:
    """The map of the distance of student and teacher."""
    x = torch.ones(2, 4)
    with av.record(model):
        with torch.set_grad_enabled(with_grad):
            t = after(model.teacher(x))
        loss = (model.student(x) - t).pow(2).mean()
    return av.map(loss, params=model)


def badges(m: Any) -> dict[str, list[str]]:
    """By title, of the cards of the whole."""
    plan = m.drawing.plan
    return {plan.titled(c): plan.labels.badges(c) for c in plan.places.parts(plan.root)}


def ways(m: Any) -> set[tuple[str, str, bool]]:
    """From where to where, and whether the way is cut."""
    plan = m.drawing.plan
    frame = plan.places.frames[plan.root.id]
    return {(frame.parts[f.source].title, frame.parts[f.target].title, f.cut is not None) for f in frame.flows if f.source >= 0}


@pytest.mark.parametrize("with_grad", [True, False])
def test_a_frozen_teacher_is_a_card(with_grad: bool) -> None:
    m = recorded(Pair(Linear(4, 8), ReLU(), Linear(8, 3)).requires_grad_(True), with_grad)
    assert "teacher" in titles(m)
    model = Pair(Linear(4, 8), ReLU(), Linear(8, 3))
    model.teacher.requires_grad_(False)
    m = recorded(model, with_grad)
    assert badges(m)["teacher"] == ["frozen"]
    assert ("teacher", "Sub, Pow, Mean", False) in ways(m)
    inside = next(c for c in walk(m.drawing.plan.root) if c.title == "teacher")
    assert [item.title for item in inside.items] == ["0", "1", "2"]


def test_a_teacher_that_could_train_is_cut_off_by_no_grad_and_that_is_not_odd() -> None:
    m = recorded(Pair(Linear(4, 8), ReLU(), Linear(8, 3)), False)
    assert ("teacher", "Sub, Pow, Mean", True) in ways(m)
    assert any(said.startswith("no_grad(), line ") for said in words_of(m))
    assert pink(m) == []


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_way_is_cut_where_no_grad_ends_also_if_its_result_is_changed_first(is_inside: bool) -> None:
    model, x = Pair(Linear(4, 8), ReLU(), Linear(8, 3)), torch.ones(2, 4)
    with av.record(model):
        with torch.no_grad():
            t = model.teacher(x)
            t = t / 2 if is_inside else t
        loss = torch.nn.functional.mse_loss(model.student(x), t.softmax(-1))
    m = av.map(loss, params=model)
    assert [source for source, _, is_cut in sorted(ways(m)) if is_cut] == ["Div" if is_inside else "teacher"]
    assert pink(m) == []


class Target(Module):
    """A network whose target runs inside of it, as in BYOL and DQN."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.online, self.target = (Sequential(Linear(4, 4), Tanh(), Linear(4, 3)) for _ in range(2))

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            t = self.target(x)
        return (self.online(x) - t).pow(2).mean()


def test_a_target_inside_of_a_model_is_not_odd_either() -> None:
    model = Target()
    with av.record(model):
        loss = model(torch.ones(2, 4))
    m = av.map(loss, params=model)
    assert {"target", "online"} <= {*titles(m)}
    assert pink(m) == []


def test_what_is_done_with_its_result_is_known_too() -> None:
    assert titles(recorded(Pair(Linear(4, 8), Linear(8, 3)), False, lambda t: t / 2))[0] == "teacher"


def test_a_deep_tower_is_whole() -> None:
    model = Pair(*(part for _ in range(DEEP) for part in (Linear(4, 4), ReLU())), Linear(4, 3))
    model.teacher.requires_grad_(False)
    plan = recorded(model, True).drawing.plan
    assert {f"teacher.{k}" for k in range(2 * DEEP + 1)} <= {c.name for c in walk(plan.root)}


def test_without_a_model_its_modules_are_guessed_and_the_teacher_is_there() -> None:
    model, x = Pair(Linear(4, 8), ReLU(), Linear(8, 3)), torch.ones(2, 4)
    model.teacher.requires_grad_(False)
    with av.record():
        with torch.no_grad():
            t = model.teacher(x)
        loss = (model.student(x) - t).pow(2).mean()
    assert {"teacher", "student"} <= {*titles(av.map(loss, params=model))}


def test_a_shape_that_is_taken_from_a_tensor_is_no_cut() -> None:
    class Samples(Module):
        def __init__(self) -> None:
            super().__init__()
            self.mu, self.out = Linear(4, 4), Linear(4, 1)

        def forward(self, x: Any) -> Any:
            mu = self.mu(x)
            eps = torch.randn_like(mu)
            return self.out(mu + eps)

    model = Samples()
    with av.record(model):
        loss = model(torch.ones(2, 4)).sum()
    assert not any("no_grad" in said for said in words_of(av.map(loss, params=model)))


def test_under_no_grad_a_program_without_modules_leaves_no_op() -> None:
    """As in the twin: `no_grad` records nothing."""
    w = torch.ones(3, requires_grad=True)
    with av.record():
        with torch.no_grad():
            t = w * 2 + 1
        loss = (w * t).sum()
    assert [op.name for op in graph_of(loss, {"w": w, "t": t}).document.ops] == ["Mul", "Sum"]


def test_under_no_grad_large_results_are_let_go() -> None:
    """A batch of images would stay in memory through a tower."""
    model = Pair(*(Linear(4, 4) for _ in range(6)))
    model.teacher.requires_grad_(False)
    x, kept = torch.ones(1000, 4), []
    hooks = [
        part.register_forward_hook(lambda m, i, out: kept.append(StorageWeakRef(out.untyped_storage())))
        for part in model.teacher
    ]
    with av.record(model), torch.no_grad():
        t = model.teacher(x)
    for hook in hooks:
        hook.remove()
    assert [ref.expired() for ref in kept] == [True] * 5 + [False] and t is not None
