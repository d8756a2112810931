"""Pink means odd: nothing on twenty healthy models, and on ten sick ones the place where it is."""

from __future__ import annotations

import re
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.twin import nn

from .models import Net, loss_of
from .test_map import words_of

torch = pytest.importorskip("torch")
from .healthy import HEALTHY  # noqa: E402
from .sick import SICK  # noqa: E402

pytestmark = pytest.mark.torch


def pink(m: Any) -> list[str]:
    """What is said in the colour of what is odd."""
    return [said for said in re.findall(r'class="[^"]*f-grad"[^>]*>([^<]*)<', m.svg) if said]


def maps_of(make: Any, is_recorded: bool) -> list[Any]:
    """The map with a card for the model alone, as it is by itself, and with everything open."""
    torch.manual_seed(0)
    if is_recorded:
        with av.record():
            loss, models = make()
    else:
        loss, models = make()
    model = models.get("model")
    names = {f"{name}.{n}": p for name, one in models.items() for n, p in one.named_parameters()}
    more = {} if model is not None else {"params": names}
    return [av.map(loss, depth=depth, **more) for depth in (1, None, 9)]


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_pink_on_a_healthy_model(name: str, is_recorded: bool) -> None:
    for m in maps_of(HEALTHY[name], is_recorded):
        assert pink(m) == []


@pytest.mark.parametrize("name", SICK)
def test_what_is_wrong_is_marked_where_it_is(name: str) -> None:
    make, mark = SICK[name]
    for m in maps_of(make, True):
        assert any(re.search(mark, said) for said in pink(m)), pink(m)


def test_before_a_pass_nothing_is_pink_and_nothing_is_missed() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))
    with av.no_grad():
        model[1].weight.mul_(1e-9)
    loss = model(av.ones(3, 4)).sum()
    m = av.map(av.step(loss))
    assert pink(m) == []
    assert "no grad" not in words_of(m)


def test_a_mean_over_many_is_no_fall_and_the_same_fall_elsewhere_is_one() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))
    assert pink(av.map((model(av.ones(90_000, 4)) * 3).mean())) == []
    with av.no_grad():
        model[1].weight.mul_(1e-4)
    assert any("in 1" in said for said in pink(av.map((model(av.ones(4, 4)) * 3).mean())))


def test_a_plain_model_of_ours_has_no_mark() -> None:
    av.manual_seed(0)  # a weight near zero by chance is odd
    model = Net(5)
    assert pink(av.map(loss_of(model))) == []


def test_a_way_that_is_detached_is_named_and_what_one_line_does_apart_is_apart() -> None:
    d, g, softplus = torch.nn.Linear(2, 1), torch.nn.Linear(4, 2), torch.nn.functional.softplus
    real, z = torch.randn(3, 2), torch.randn(3, 4)
    with av.record():
        loss = softplus(-d(real)).mean() + softplus(d(g(z).detach())).mean()
    m = av.map(loss)
    said = words_of(m)
    assert "softplus(-d(real)).mean()" in said
    assert any(w.startswith("g(z).detach(), line ") for w in said)
    (frame,) = [f for id, f in m.drawing.plan.places.frames.items() if id == m.drawing.plan.root.id]
    titles = [p.title for p in frame.parts]
    assert [(f.source, f.target) for f in frame.flows if f.cut is not None] == [(titles.index("g"), titles.index("g") + 1)]
    assert pink(m) == []
    with av.record():
        loss = softplus(-d(real)).mean() + softplus(d(g(z))).mean()
    assert not any("detach" in w for w in words_of(av.map(loss)))


def test_an_alarm_lies_over_no_other_words() -> None:
    """Of four equal layers of which the last is dead: its name, what is wrong with its parameters, and where it stops."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    torch.nn.init.constant_(model.layers[3].linear1.bias, -1e3)
    with av.record(model):
        loss = model(torch.randn(2, 5, 16)).pow(2).mean()
    for depth in (1, 2):
        svg = av.map(loss, params=model, depth=depth).svg
        (stack,) = re.findall(r'<g class="card[^>]*data-at="c1".*?</g>\s*<g class="(?:rows|inside)', svg, re.DOTALL)
        assert overlaps(stack) == []


def overlaps(svg: str) -> list[tuple[str, str]]:
    """Words of one line that lie over each other."""
    placed = []
    for look, said in re.findall(r"<text([^>]*)>(.*?)</text>", svg):
        x, y, size = (float(re.search(rf'\b{name}="([-\d.]+)"', look)[1]) for name in ("x", "y", "font-size"))
        text = re.sub(r"<[^>]*>", "", said)
        wide = len(text) * size * 0.6
        placed.append((int(y / 8), x - wide if "text-anchor" in look else x, text, wide))
    placed.sort()
    return [(a[2], b[2]) for a, b in zip(placed, placed[1:], strict=False) if a[0] == b[0] and a[1] + a[3] > b[1] + 4]
