"""What `av.watch()` has seen, without a recording: parts that were detached, or ran under `no_grad`, are on the map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import autograd_viz as av

from .test_map import words_of
from .test_odd import pink
from .test_recognised import titles

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import Linear, Module, ReLU, Sequential, Tanh  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    torch.manual_seed(0)
    with av.watch():
        yield


class Cut(Module):
    """A layer in it may be detached from both sides."""

    def __init__(self, is_sick: bool) -> None:
        super().__init__()
        self.is_sick = is_sick
        self.inp, self.mid, self.act, self.out = Linear(4, 8), Linear(8, 8), ReLU(), Linear(8, 1)

    def forward(self, x: Any) -> Any:
        h = self.inp(x)
        z = self.mid(h.detach() if self.is_sick else h)
        return self.out(self.act(h) + (z.detach() if self.is_sick else z))


def trained(model: Any, steps: int = 1) -> Any:
    """It, after some steps."""
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(3, 4)).mean().backward()
        optimizer.step()
    return model


def cuts(m: Any) -> list[tuple[str, str]]:
    """From where to where ways of the whole are cut."""
    plan = m.drawing.plan
    frame = plan.places.frames[plan.root.id]
    known = [(frame.parts[f.source].title, frame.parts[f.target].title) for f in frame.flows if f.cut is not None]
    return sorted(known)


@pytest.mark.parametrize("steps", [1, 3])
def test_layers_that_were_detached_are_on_the_map_of_the_model(steps: int) -> None:
    m = av.map(trained(Cut(is_sick=True), steps))
    assert titles(m)[:3] == ["inp", "mid", "act"]
    assert cuts(m) == [("inp", "mid"), ("mid", "Add")]
    assert any(said.startswith("h.detach(), line ") for said in words_of(m))
    assert "not recorded: modules are guessed from parameters (dotted)" in m.drawing.plan.summary(None)
    assert pink(m) == []


def test_its_twin_without_detach_has_the_same_layers_and_no_cut() -> None:
    m = av.map(trained(Cut(is_sick=False)))
    assert titles(m)[:3] == ["inp", "mid", "act"] and cuts(m) == []


def test_a_way_of_which_one_use_is_detached_is_not_cut() -> None:
    model = Linear(4, 4)
    y = model(torch.ones(2, 4))
    assert cuts(av.map((y * y.detach()).sum(), params=nn.ModuleDict({"model": model}))) == []
    assert cuts(av.map((torch.ones(2, 4, requires_grad=True) * y.detach()).sum(), params=nn.ModuleDict({"model": model})))


def distilled(teacher: Any, student: Any, after: Any = lambda t: t) -> Any:
    """A loss of soft targets."""
    x = torch.ones(2, 4)
    with torch.no_grad():
        t = after(teacher(x))
    s = student(x)
    return F.kl_div(F.log_softmax(s / 2, -1), F.softmax(t / 2, -1), reduction="batchmean")


def pair() -> tuple[Any, Any]:
    return Sequential(Linear(4, 8), ReLU(), Linear(8, 3)), Sequential(Linear(4, 4), Tanh(), Linear(4, 3))


@pytest.mark.parametrize("after", [lambda t: t, torch.tanh])
def test_a_teacher_under_no_grad_stands_beside_its_student_and_is_cut_off_at_its_end(after: Any) -> None:
    teacher, student = pair()
    m = av.map(distilled(teacher, student, after))
    assert {"teacher", "student", "F.log_softmax(s / 2, -1)", "F.softmax(t / 2, -1)"} <= {*titles(m)}
    assert len(cuts(m)) == 1 and sum("no_grad()" in said for said in words_of(m)) == 1
    assert any(len(row) == 2 for row in m.drawing.plan.places.rows(m.drawing.plan.root))
    assert pink(m) == []


def test_what_a_difference_does_not_save_is_known_too() -> None:
    teacher, student = pair()
    with torch.no_grad():
        t = teacher(torch.ones(2, 4))
    m = av.map((student(torch.ones(2, 4)) - t).abs().mean())
    assert titles(m)[:2] == ["teacher", "student"]


def test_the_layers_of_another_model_are_not_those_of_the_chosen_one() -> None:
    teacher, student = pair()
    distilled(teacher, student).backward()
    assert titles(av.map(student))[:4] == ["teacher", "0", "1", "2"]


def test_a_state_that_goes_from_batch_to_batch_leads_to_no_earlier_batch() -> None:
    cell, found, h = nn.GRUCell(4, 4), [], torch.zeros(2, 4)
    for _ in range(3):
        h = cell(torch.ones(2, 4), h.detach())
        loss = h.pow(2).mean()
        found.append(len(av.map(loss).document.ops))
        loss.backward()
    assert len(set(found)) == 1


def test_an_average_of_weights_is_no_part_of_the_target_that_has_them() -> None:
    student = pair()[1]
    target = Sequential(Linear(4, 4), Tanh(), Linear(4, 3)).requires_grad_(False)
    with torch.no_grad():
        for mine, p in zip(target.parameters(), student.parameters(), strict=True):
            mine.lerp_(p, 0.1)
    m = av.map(distilled(target, student))
    assert {"target", "student"} <= {*titles(m)}
    assert not any(op.name == "Lerp" for op in m.document.ops)


def test_an_evaluation_that_the_loss_does_not_use_is_not_drawn() -> None:
    teacher, student = pair()
    with torch.no_grad():
        teacher(torch.ones(2, 4))
    assert "teacher" not in titles(av.map(student(torch.ones(2, 4)).mean()))
