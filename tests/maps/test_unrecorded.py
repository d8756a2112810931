"""What a map says of a PyTorch model that nobody recorded: calls, names of the user's, weights of an inner loop."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.maps.cards import walk
from autograd_viz.sources.anything import graph_of

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

pytestmark = pytest.mark.torch


def layers() -> Any:
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))


def titles(m: Any) -> list[str]:
    """Of the parts of the whole."""
    plan = m.drawing.plan
    return [plan.titled(part) for part in plan.places.parts(plan.root)]


def badges(m: Any) -> list[list[str]]:
    plan = m.drawing.plan
    return [plan.labels.badges(part) for part in plan.places.parts(plan.root)]


def test_a_sequence_that_runs_again_is_a_call_of_its_own() -> None:
    model = nn.ModuleDict({"g": nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)), "d": layers()})
    fake, real = model["g"](torch.randn(5, 2)), torch.randn(5, 3)
    loss = functional.softplus(-model["d"](real)).mean() + functional.softplus(model["d"](fake)).mean()
    m = av.map(loss, params=model)
    assert titles(m)[:3] == ["g", "d", "Neg, Softplus, Mean"]
    assert [b for b in badges(m) if b] == [["1 of 2"], ["2 of 2"]]
    both = model["d"](real) - model["d"](fake)
    assert [b for b in badges(av.map(both.mean(), params=model)) if b] == [["1 of 2"], ["2 of 2"]]


def test_a_sequence_that_runs_once_has_no_numbers() -> None:
    model = nn.ModuleDict({"a": layers(), "b": layers()})
    x = torch.randn(5, 3)
    m = av.map((model["a"](x) * model["b"](x)).mean(), params=model)
    assert [b for b in badges(m) if b] == []


def test_weights_after_an_inner_step_are_those_of_their_modules() -> None:
    model, x, y = layers(), torch.randn(5, 3), torch.randn(5, 1)
    weights = dict(model.named_parameters())
    inner = (torch.func.functional_call(model, weights, (x,)) - y).pow(2).mean()
    grads = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
    fast = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), grads, strict=True)}
    outer = (torch.func.functional_call(model, fast, (x,)) - y).pow(2).mean()
    m = av.map(outer, params=model)
    assert [t for t in titles(m) if t == "0"] == ["0", "0"]
    assert titles(m)[-5:-1] == ["0", "1", "2", "Sub, Pow, Mean"]


def test_a_difference_of_a_parameter_and_a_result_is_no_step() -> None:
    model, centre = layers(), nn.Parameter(torch.randn(5, 3))
    distance = centre - model[0](torch.randn(5, 3))[:, :3]
    m = av.map(model[2](torch.cat([distance, torch.ones(5, 5)], 1)).sum(), params=model)
    assert [t for t in titles(m) if t in ("0", "2")] == ["0", "2"]


def test_names_of_the_users_open_a_long_loss_and_arguments_that_decide_are_said() -> None:
    model, actions, old, adv = layers(), torch.randint(0, 1, (5, 1)), torch.randn(5), torch.randn(5)
    logits = model(torch.randn(5, 3))
    logp = logits.log_softmax(-1).gather(1, actions).squeeze(1)
    ratio = (logp - old).exp()
    clipped = ratio.clamp(0.8, 1.2)
    loss = -torch.min(ratio * adv, clipped * adv).mean()
    assert titles(av.map(loss, params=model))[-5:-1] == [
        "logp · LogSoftmax(dim=-1), Gather",
        "ratio · Sub, Exp",
        "clipped · Clamp(min=0.8, max=1.2)",
        "Mul, Minimum, Mean, Neg",
    ]


def test_a_cell_that_runs_turn_after_turn_is_told_apart() -> None:
    model = nn.ModuleDict({"cell": nn.LSTMCell(3, 4), "head": nn.Linear(4, 1)})
    x, h = torch.randn(2, 5, 3), (torch.zeros(2, 4), torch.zeros(2, 4))
    for t in range(5):
        h = model["cell"](x[:, t], h)
    plan = av.map(model["head"](h[0]).sum(), params=model).drawing.plan
    (stack,) = [part for part in plan.root.items if part.kind == "stack"]
    assert plan.labels.kind_of(stack) == "LSTMCell × 4"  # the first turn has no gradient to send on


def test_a_class_of_the_users_that_takes_its_weight_twice_is_one_call() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 3))

        def forward(self, x: Any) -> Any:
            return (x @ self.weight).tanh() @ self.weight

    model = nn.ModuleDict({"twice": Twice(), "head": nn.Linear(3, 1)})
    m = av.map(model["head"](model["twice"](torch.randn(2, 3))).sum(), params=model)
    assert titles(m)[:2] == ["twice", "head"]
    assert [b for b in badges(m) if b] == []


def test_a_models_own_parameter_is_one_also_where_no_variable_holds_it_and_an_input_that_trains_is_none() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale, self.last = nn.Parameter(torch.ones(3)), nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            return self.last(x * 2 * self.scale)

    def mapped(x: Any) -> Any:
        model = Scaled()
        with av.record(model):
            loss = model(x).sum()
        return av.map(loss, params=model)

    m = mapped(torch.randn(2, 3).requires_grad_())
    plan = m.drawing.plan
    (pill,) = [part for part in plan.places.parts(plan.root) if part.kind == "ops" and "self.scale" in plan.titled(part)]
    assert [line.name for line in plan.labels.own(pill)] == ["scale"]
    assert plan.labels.count(plan.root) == 7
    assert "x" in {f.name for f in plan.places.frames[plan.root.id].flows}


def test_a_frozen_linear_is_known_by_its_weight_and_what_lora_adds_is_in_its_module() -> None:
    class Lora(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.base = nn.Linear(4, 4).requires_grad_(False)
            self.lora_a, self.lora_b = nn.Parameter(torch.ones(2, 4)), nn.Parameter(torch.ones(4, 2))

        def forward(self, x: Any) -> Any:
            return self.base(x) + x @ self.lora_a.T @ self.lora_b.T * 2.0

    model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), Lora(), nn.GELU(), Lora())
    m = av.map(model(torch.ones(2, 3)).sum(), params=model)
    assert titles(m)[:-1] == ["0", "1", "2", "3", "4", "Sum"]
    second = next(c for c in walk(m.drawing.plan.root) if c.title == "2")
    assert [item.title for item in second.items if item.kind == "module"] == ["base"]


def test_a_matrix_that_is_no_turn_of_a_weight_gets_no_name_of_it() -> None:
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4)
    named = {t.name for t in graph_of((x @ w[:, 1:]).sum(), {"x": x, "w": w}).document.tensors}
    assert not any(name and name.startswith("w") for name in named)
    named = {t.name for t in graph_of((x @ torch.ones(4, 3).T).sum(), {"x": x, "w": w}).document.tensors}
    assert not any(name and name.startswith("w") for name in named)
    turned = torch.ones(4, 3)
    named = {t.name for t in graph_of((x @ turned.T).sum(), {"x": x, "turned": turned}).document.tensors}
    assert "turned.T" in named


def test_what_only_a_later_term_takes_is_in_no_term_before_it() -> None:
    actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)

    def run(x: Any, chosen: Any, given: Any) -> Any:
        logs, value = actor(x).log_softmax(-1), critic(x).squeeze(-1).sigmoid()
        ratio = (logs.gather(1, chosen) + 0.7).exp().squeeze(-1)
        policy = -torch.min(ratio * given, ratio.clamp(0.8, 1.2) * given).mean()
        error = functional.mse_loss(value, given)
        entropy = -(logs * logs.exp()).sum(-1).mean()
        return policy + 0.5 * error - 0.01 * entropy

    loss = run(torch.ones(8, 4), torch.zeros(8, 1, dtype=torch.long), torch.ones(8))
    plan = av.map(loss, params=nn.ModuleDict({"actor": actor, "critic": critic})).drawing.plan
    frame = plan.places.frames[plan.root.id]
    ways = {(plan.titled(frame.parts[f.source]), plan.titled(frame.parts[f.target])) for f in frame.flows if f.source >= 0}
    assert {target for source, target in ways if source == "critic"} == {"Sigmoid"}
    assert [target for source, target in ways if source == "Sigmoid"] == ["MseLoss"]
