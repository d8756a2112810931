"""The map of a model: its cards, what flows between them, and the numbers on it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.numbers import Outliers
from autograd_viz.pictures.maps.place import HEADER
from autograd_viz.twin import nn

from .models import Net, loss_of


def words_of(m: Any) -> list[str]:
    """The texts of a picture in the order in which they are written."""
    return [t.replace("&#39;", "'") for t in re.findall(r"<text[^>]*>(?:<tspan[^>]*>)?([^<]*)<", m.svg)]


def gradients_of(m: Any) -> list[str]:
    """What stands beside the arrows of gradients."""
    return re.findall(r'data-at="g:[^>]*><text[^>]*><tspan[^>]*>([^<]*)<', m.svg)


def test_equal_blocks_are_one_card_and_opened_they_are_all_alike() -> None:
    model = Net()
    loss = loss_of(model)
    closed = words_of(av.map(loss, depth=1))
    assert [w for w in closed if w in ("embed", "blocks.0 … blocks.2", "head")] == ["embed", "blocks.0 … blocks.2", "head"]
    assert "· Block × 3" in closed
    opened = words_of(av.map(loss, open="blocks.1"))
    assert {"blocks.0", "blocks.1", "blocks.2", "first", "second"} <= set(opened)
    assert opened.count("first") == 3  # once as a card, and in what the two closed blocks say of their inside


def test_equal_blocks_look_like_a_pile_until_they_are_opened() -> None:
    model = Net()
    loss = loss_of(model)
    maps = av.map(loss, depth=1), av.map(loss, open="blocks.1")
    assert [len(re.findall(r'<rect[^>]*class="behind', m.svg)) for m in maps] == [2, 0]


def grad_of(*modules: Any) -> str:
    """What a card says of the gradients of its parameters, which are one vector."""
    norms = [p.grad.norm().item() for module in modules for p in module.parameters()]
    return f"grad {math.hypot(*norms):.3g}"


def test_a_module_has_its_parameters_and_the_norm_of_their_gradients_in_one_line() -> None:
    model = Net()
    loss = loss_of(model)
    m = av.map(loss)
    said, plan = words_of(m), m.drawing.plan
    loss.backward()
    at = said.index("weight (1, 4), bias (1,)")
    assert grad_of(model.head) in said[at - 3 : at]
    assert grad_of(model.blocks) in said
    assert plan.places.closed[plan.card("head").id] == HEADER


def test_before_a_pass_and_in_the_middle_of_one_nothing_is_said_of_a_gradient_that_may_still_come() -> None:
    model = Net(1)
    plan = av.map(loss_of(model)).drawing.plan
    head = plan.card("head")
    weight, bias = (line.id for line in plan.labels.all_lines(head))
    over = Outliers(missing=frozenset({bias}))
    assert plan.labels.grads(head, {}, None) == ("", False)
    assert plan.labels.grads(head, {(weight, "grad", 0): 3.0}, None) == ("", False)
    assert plan.labels.grads(head, {(weight, "grad", 0): 3.0, (bias, "grad", 0): 4.0}, None) == ("grad 5", False)
    assert plan.labels.grads(head, {(weight, "grad", 0): 3.0}, over) == ("bias: no grad", True)
    assert plan.labels.grads(head, {(weight, "grad", 0): 0.0, (bias, "grad", 0): 4.0}, Outliers()) == (
        "weight: grad all zero",
        False,
    )
    assert plan.labels.grads(head, {}, over) == ("no grad", True)


def test_the_pass_that_gives_the_numbers_is_taken_back() -> None:
    model = Net()
    loss = loss_of(model)
    av.map(loss)
    assert all(p.grad is None for p in model.parameters())
    loss.backward()  # the graph is not freed


def test_an_arrow_has_the_norm_of_the_gradient_that_went_along_it() -> None:
    model = Net(1)
    seen: list[Any] = []
    for layer in (model.embed, model.blocks[0]):
        layer.register_forward_hook(lambda m, given, out: out.register_hook(lambda g: seen.append(g.norm().item())) and None)
    loss = loss_of(model)
    said = words_of(av.map(loss))
    assert len(seen) == 2
    for number in seen:
        assert f"{number:.3g}" in said


def test_after_a_pass_that_freed_the_graph_the_leaves_have_their_grad_and_arrows_no_number() -> None:
    model = Net()
    loss = loss_of(model)
    loss.backward()
    said = words_of(av.map(loss))
    assert grad_of(model.head) in said
    assert not gradients_of(av.map(loss))


def test_a_residual_way_runs_beside_the_parts_that_it_skips() -> None:
    model = Net(1)
    loss = loss_of(model)
    svg = av.map(loss, open="blocks.0").svg
    lanes = re.findall(r'<path d="M[\d.]+ [\d.]+V[\d.]+H[\d.]+V[\d.]+H[\d.]+"', svg)
    assert len(lanes) == 1
    (way,) = re.findall(r"<path[^>]*upway s-link[^>]*>", svg)  # and its gradient comes back beside it
    assert float(re.search(r'stroke-width="([\d.]+)"', way)[1]) > 0.75  # type: ignore[index]


@pytest.mark.parametrize(("scale", "remark"), [(1e-3, "÷ "), (1e4, "× ")])
def test_a_gradient_that_falls_or_grows_a_hundredfold_in_one_module_is_marked(scale: float, remark: str) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))
    with av.no_grad():
        model[1].weight.copy_(av.eye(4) * scale)
    loss = model(av.ones(2, 4)).sum()
    assert any(remark in word and word.endswith("in 1") for word in words_of(av.map(loss)))


def test_zero_nan_and_missing_gradients_are_said_and_not_only_coloured() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    with av.no_grad():
        model[0].bias.fill_(-100.0)
    said = words_of(av.map(model(av.ones(1, 2)).sum()))
    assert said.count("grad all zero") == 1
    assert said.count("weight: grad all zero") == 1
    assert any(w.startswith("all zero") for w in said)
    assert "grad nan" in words_of(av.map((model(av.ones(1, 2)) * float("nan")).sum()))


def test_what_open_means_is_there_or_the_choices_are_said() -> None:
    model = Net()
    loss = loss_of(model)
    with pytest.raises(ValueError, match=r"matches no module or function; the first level has embed, blocks\.0, head"):
        av.map(loss, open="blokcs")
    with pytest.raises(av.NotDrawableError):
        av.map("loss")


def test_a_map_of_a_stepper_has_the_gradients_so_far() -> None:
    model = Net()
    loss = loss_of(model)
    stepper = av.step(loss)
    assert not gradients_of(av.map(stepper))
    stepper.next()
    assert gradients_of(av.map(stepper)) == ["1"]
    stepper.finish()
    assert len(gradients_of(av.map(stepper))) > 3


def test_a_map_and_a_figure_are_saved_as_pictures(tmp_path: Path) -> None:
    model = Net()
    loss = loss_of(model)
    for picture in (av.map(loss), av.show(loss)):
        av.save(picture, tmp_path / "m.svg")
        assert (tmp_path / "m.svg").read_text(encoding="utf-8") == picture.svg
        av.save(picture, tmp_path / "m.png", scale=0.5)
        assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
        with pytest.raises(av.UnknownChoiceError, match="file suffix of a picture"):
            av.save(picture, tmp_path / "m.gif")


@pytest.mark.torch
def test_a_recorded_model_of_pytorch_has_the_norms_of_its_own_backward() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3)
    with av.record(model):
        loss = model(torch.randn(2, 4, 8)).pow(3).mean()
    m = av.map(loss, open="layers.*")
    said = words_of(m)
    assert "· TransformerEncoderLayer × 3" in said
    assert all(p.grad is None for p in model.parameters())
    loss.backward()
    for name in ("self_attn", "linear2"):
        assert said.count(name) == 3
    assert grad_of(model.layers[2].linear2) in said
    assert repr(m).startswith("<Map: loss = ")


class Sampler(nn.Module):
    """A model that does a part of its work in a function of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 4), nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        return self.second(self.spread(self.first(x)))

    def spread(self, h: Any) -> Any:
        h = h.tanh()
        return h * h.exp()


def squared(x: Any) -> Any:
    """A loss."""
    return x.square().mean()


def test_what_a_function_does_is_called_by_its_name_and_the_program_around_is_not() -> None:
    model = Sampler()
    loss = squared(model(av.ones(3, 2)))
    said = words_of(av.map(loss, depth=1))
    assert any(w.startswith("spread() · ") for w in said)
    assert "squared() · x.square().mean()" in said
    alone = Net(1)
    loss = loss_of(alone)
    assert not any("()" in w and "·" in w for w in words_of(av.map(loss)))


def test_a_model_of_ours_has_no_last_pass_and_the_error_says_what_to_call() -> None:
    with pytest.raises(av.NotDrawableError, match=r"takes a PyTorch model .* call av.map\(loss\)"):
        av.map(Net())


@pytest.mark.torch
def test_the_map_of_a_model_is_that_of_its_last_pass_if_it_was_watched() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()) for _ in range(4)))
    with pytest.raises(
        av.NotDrawableError, match=r"map\(model\) takes the last backward pass that was kept, and there is none"
    ):
        av.map(model)
    with av.watch():
        loss = model(torch.ones(3, 4)).pow(2).mean()
        loss.backward()
        kept = [p.grad.clone() for p in model.parameters()]
        m = av.map(model)
        assert grad_of(model[0]) in words_of(m)
        assert gradients_of(m)[-1] == "1"
        assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), kept, strict=True))
        with pytest.raises(av.NotDrawableError, match="another model's; pass the loss"):
            av.map(torch.nn.Linear(2, 2))
