"""Ten models with one thing wrong: each gives a loss and the models by name; beside it what a map must mark, as it says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from .healthy import Made, layers_of

SICK: dict[str, tuple[Callable[[], Made], str]] = {}


def sick(mark: str) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Add a model to the list; `mark` is a pattern of what is said in pink."""

    def add(make: Callable[[], Made]) -> Callable[[], Made]:
        SICK[make.__name__] = make, mark
        return make

    return add


def stack(*layers: nn.Module) -> Made:
    """A loss of layers of width 16."""
    model = nn.Sequential(*layers, nn.Linear(16, 4))
    return model(torch.randn(32, 16)).pow(2).mean(), {"model": model}


@sick(r"÷ .* since ")
def vanishing_sigmoids() -> Made:
    return stack(*(part for _ in range(12) for part in (nn.Linear(16, 16), nn.Sigmoid())))


@sick(r"× .* since ")
def exploding_weights() -> Made:
    layers = [nn.Linear(16, 16) for _ in range(12)]
    for layer in layers:
        nn.init.normal_(layer.weight, std=3.0)
    return stack(*layers)


@sick(r"stops in 3$")
def dead_relu() -> Made:
    layers = nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()
    nn.init.constant_(layers[2].bias, -100.0)
    return stack(*layers)


@sick(r"nan")
def log_of_zero() -> Made:
    model = layers_of(4, 16, 4)
    p = functional.relu(model(torch.randn(8, 4)))
    return -(p * torch.log(p)).sum(-1).mean(), {"model": model}


class Detaches(nn.Module):
    """Trains its head only, against its author's will."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.head = layers_of(4, 16, 16), nn.Linear(16, 1)

    def forward(self, x: Any) -> Any:
        return self.head(self.encoder(x).detach())


@sick(r"no grad")
def frozen_by_detach() -> Made:
    model = Detaches()
    return model(torch.randn(8, 4)).pow(2).mean(), {"model": model}


@sick(r"÷ .* in 2$")
def one_faint_layer() -> Made:
    layers = [nn.Linear(16, 16) for _ in range(5)]
    with torch.no_grad():
        layers[2].weight.mul_(1e-6)
    return stack(*layers)


class Token(nn.Module):
    """Has a parameter that nobody has filled."""

    def __init__(self) -> None:
        super().__init__()
        self.mask_token = nn.Parameter(torch.full((1, 16), 7.4e4))
        self.embed, self.layers = nn.Linear(16, 16), nn.Sequential(*(nn.Linear(16, 16) for _ in range(3)))

    def forward(self, x: Any) -> Any:
        x = torch.cat([self.embed(x), self.mask_token], 0)
        return self.layers(functional.layer_norm(x, (16,)))


@sick("mask_token")
def parameter_far_from_its_like() -> Made:
    model = Token()
    return model(torch.randn(8, 16)).pow(2).mean(), {"model": model}


class Saturated(nn.Module):
    """Chooses between values by a softmax that has decided."""

    def __init__(self) -> None:
        super().__init__()
        self.score, self.value = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        return ((self.score(x) * 1e4).softmax(-1) * self.value(x)).sum(-1)


@sick(r"stops in |÷ .* in ")
def saturated_softmax() -> Made:
    model = Saturated()
    return model(torch.randn(8, 16)).pow(2).mean(), {"model": model}


@sick(r"stops in 2$")
def layer_of_zeros() -> Made:
    layers = [nn.Linear(16, 16) for _ in range(4)]
    nn.init.zeros_(layers[2].weight)
    return stack(*layers)


@sick(r"stops in ")
def clipped_to_nothing() -> Made:
    model = layers_of(16, 16, 4)
    return model(torch.randn(8, 16)).add(50.0).clamp(-1, 1).pow(2).mean(), {"model": model}
