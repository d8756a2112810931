"""What a map says of calls: which of how many, how they are made, from which gradient; and what it must not say."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.cards import walk
from autograd_viz.pictures.maps.odd import arrived
from autograd_viz.twin import nn

from .models import Net, loss_of
from .test_map import gradients_of, words_of


class Discriminator(nn.Module):
    """A class of the user's, with its own lines."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        h = self.first(x).tanh()
        return self.last(h)


class Pair(nn.Module):
    """Uses one part twice, and does nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Discriminator()

    def forward(self, a: Any, b: Any) -> Any:
        return self.part(a), self.part(b)


def badges(m: Any) -> dict[str, list[str]]:
    """Of cards that have some, by title."""
    labels = m.drawing.plan.labels
    return {c.title: labels.badges(c) for c in walk(m.drawing.plan.root) if labels.badges(c)}


class Whole(nn.Module):
    """Parts in the hands of a function."""

    def __init__(self, run: Any, **parts: Any) -> None:
        super().__init__()
        self.run = run
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *given: Any) -> Any:
        return self.run(self, *given)


def test_a_module_that_is_called_again_has_the_numbers_of_its_calls() -> None:
    def run(m: Any, real: Any, z: Any) -> Any:
        fake = m.g(z)
        first = m.d(real).mean()
        second = m.d(fake.detach()).mean()
        return first + second + m.d(fake).mean()

    model = Whole(run, g=nn.Linear(2, 3), d=nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    m = av.map(model(av.ones(5, 3), av.ones(5, 2)))
    plan = m.drawing.plan
    assert [plan.labels.badges(c) for c in walk(plan.root) if c.title == "d"] == [["1 of 3"], ["2 of 3"], ["3 of 3"]]
    assert {"1 of 3", "2 of 3", "3 of 3"} <= set(words_of(m))


def test_two_calls_with_nothing_between_are_two_cards() -> None:
    def run(m: Any, a: Any, b: Any) -> Any:
        a, b = m.d(a), m.d(b)
        return (a - b).mean()

    model = Whole(run, d=Discriminator())
    plan = av.map(model(av.ones(5, 3), av.zeros(5, 3))).drawing.plan
    assert [plan.labels.badges(c) for c in walk(plan.root) if c.title == "d"] == [["1 of 2"], ["2 of 2"]]


def test_a_module_that_is_called_once_and_uses_a_part_twice_is_one_card() -> None:
    def run(m: Any, a: Any, b: Any) -> Any:
        a, b = m.pair(a, b)
        return (m.head(a) * b).mean()

    model = Whole(run, pair=Pair(), head=nn.Linear(1, 1))
    plan = av.map(model(av.ones(5, 3), av.zeros(5, 3)), depth=3).drawing.plan
    assert [c.title for c in walk(plan.root) if c.path == ("pair",)] == ["pair"]
    assert [plan.labels.badges(c) for c in walk(plan.root) if c.title == "part"] == [["1 of 2"], ["2 of 2"]]


def test_turns_of_a_loop_over_time_are_no_calls_of_the_module_around() -> None:
    def turns(m: Any, h: Any) -> Any:
        for _ in range(2):
            h = m.cell(h)
        return h

    def run(m: Any, x: Any) -> Any:
        return m.loop(m.loop(x) * 2).sum()

    model = Whole(run, loop=Whole(turns, cell=nn.Linear(3, 3)))
    plan = av.map(model(av.ones(2, 3))).drawing.plan
    assert [plan.labels.badges(c)[:1] for c in walk(plan.root) if c.path == ("loop",)] == [["1 of 2"], ["2 of 2"]]


def test_a_part_that_evaluates_where_the_others_train_has_a_badge_and_a_model_of_one_mode_has_none() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh()), nn.Linear(3, 1))
    assert badges(av.map(model(av.ones(2, 3)).sum())) == {}
    model[1].eval()
    assert badges(av.map(model(av.ones(2, 3)).sum())) == {"1": ["eval"]}
    model.eval()
    assert badges(av.map(model(av.ones(2, 3)).sum())) == {}
    model[2].train()
    assert badges(av.map(model(av.ones(2, 3)).sum())) == {"2": ["trains"]}


def test_equal_calls_have_the_badges_of_all_and_say_how_many_where_only_some_have_one() -> None:
    model = nn.Sequential(*(nn.Linear(3, 3) for _ in range(4)))
    model[0].requires_grad_(False)
    model[1].requires_grad_(False)
    assert badges(av.map(model(av.ones(2, 3)).sum()))["0 … 3"] == ["frozen × 2"]
    model.requires_grad_(False)
    assert badges(av.map(model(av.ones(2, 3, requires_grad=True)).sum()))["0 … 3"] == ["frozen"]


def test_a_result_of_several_elements_takes_its_first_gradient() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2))
    y = model(av.ones(2, 3))
    with pytest.raises(
        RuntimeError, match=r"implicitly created only for scalar outputs; .*call av\.map\(tensor, gradient=\.\.\.\)"
    ):
        av.map(y)
    gradient = av.ones(2, 2) * 3
    m = av.map(y, gradient=gradient)
    assert gradients_of(m)[-1] == "6"
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        av.map(y, gradient=3)


def test_a_complex_result_takes_its_first_gradient() -> None:
    w = av.tensor([1.0, 2.0], requires_grad=True)
    loss = (w * 1j).sum()
    with pytest.raises(RuntimeError, match=r"real scalar outputs.*call av\.map\(tensor, gradient=\.\.\.\)"):
        av.map(loss)
    assert gradients_of(av.map(loss, gradient=av.tensor(3j))) == ["3"]


def test_several_statements_on_one_line_are_all_said() -> None:
    model = nn.Linear(3, 2)
    y = model(av.ones(2, 3))
    a = y * 2; b = a.exp()  # noqa: E702 # fmt: skip
    assert "a = y * 2; b = a.exp()" in words_of(av.map(b.sum()))


class Recurrent(nn.Module):
    """One cell, turn after turn."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.cell, self.head = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x: Any) -> Any:
        h = self.embed(x)
        for _ in range(6):
            h = self.cell(h).tanh()
        return self.head(h)


def test_one_module_turn_after_turn_is_closed_and_shows_the_gradient_of_each_turn() -> None:
    model = Recurrent()
    loss = model(av.ones(2, 3)).sum()
    m = av.map(loss)
    (stack,) = [c for c in m.drawing.plan.root.items if c.kind == "stack"]
    assert stack.id not in m.drawing.opened
    frame, known = m.drawing.plan.places.frames[stack.id], m.drawing.at_start()
    norms = arrived(frame.flows, stack.items, known)[stack.period - 1 :: stack.period]
    assert len(norms) == 6
    assert None not in norms
    assert f"grad by turn: {norms[0]:.3g} … {norms[-1]:.3g}" in words_of(m)
    assert stack.id in av.map(loss, depth=2).drawing.opened


def test_equal_blocks_are_opened_as_they_are_and_have_no_turns() -> None:
    model = Net(4)
    loss = loss_of(model)
    m = av.map(loss)
    (stack,) = [c for c in m.drawing.plan.root.items if c.kind == "stack"]
    assert stack.id in m.drawing.opened
    assert not any("by turn" in word for word in words_of(av.map(loss, depth=1)))


def test_a_badge_of_a_call_is_seen_where_the_class_has_no_room() -> None:
    class Averylongnameofaclassthatneedsroom(Discriminator):
        pass

    def run(m: Any, a: Any, b: Any) -> Any:
        return (m.d(a) * 2 - m.d(b)).mean()

    model = Whole(run, d=Averylongnameofaclassthatneedsroom())
    assert {"1 of 2", "2 of 2"} <= set(words_of(av.map(model(av.ones(5, 3), av.zeros(5, 3)))))


def test_a_way_of_several_tensors_of_one_shape_says_how_many() -> None:
    def halves(m: Any, x: Any) -> Any:
        return m.wide(x).chunk(2, -1)

    def run(m: Any, x: Any) -> Any:
        a, b = m.halves(x)
        return (a * b).sum()

    model = Whole(run, halves=Whole(halves, wide=nn.Linear(3, 4)))
    assert "(5, 2) × 2" in words_of(av.map(model(av.ones(5, 3))))


def test_a_parameter_that_only_rearranging_ops_take_has_an_arrow_with_its_name() -> None:
    class Queries(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.mix, self.scale = nn.Parameter(av.randn(1, 3)), nn.Linear(3, 3), nn.Parameter(av.ones(3))

        def forward(self, x: Any) -> Any:
            q = self.query.expand(5, 3)
            h = self.mix(x)
            h = h * self.scale
            return h * q

    model = Queries()
    m = av.map(model(av.ones(5, 3)).sum())
    plan = m.drawing.plan
    assert "query" in {f.name for f in plan.places.frames[plan.root.id].flows}
    assert any("scale (3,)" in word for word in words_of(m))
    assert not any("mix" in f.name for frame in plan.places.frames.values() for f in frame.flows)
