"""Small networks of many kinds, trained for a few steps from one seed: losses, gradients and parameters are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

# name: (module of a library -> model, loss of one step); the seed has been set
NETWORKS: dict[str, Callable[[Any], tuple[Any, Callable[[], Any]]]] = {}


def network(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    NETWORKS[build.__name__] = build
    return build


@network
def classifier(m: Any) -> Any:
    nn = m.nn
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
    return model, lambda: nn.CrossEntropyLoss(label_smoothing=0.1)(model(m.randn(10, 6)), m.randint(3, (10,)))


@network
def image_classifier(m: Any) -> Any:
    nn = m.nn
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, stride=2, groups=2, bias=False),
        nn.BatchNorm2d(6), nn.LeakyReLU(0.1, inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4),
        nn.LogSoftmax(dim=1),
    )  # fmt: skip
    return model, lambda: nn.functional.nll_loss(model(m.randn(3, 3, 10, 9)), m.randint(4, (3,)))


@network
def residual_block(m: Any) -> Any:
    nn = m.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1), nn.GroupNorm(2, 4)
            self.scale = nn.Parameter(m.zeros(4, 1, 1))

        def forward(self, x: Any) -> Any:
            out = self.norm(self.conv(x)) * (1 + self.scale)
            out += x
            return nn.functional.gelu(out)

    model = nn.Sequential(Block(), Block())
    return model, lambda: (model(m.randn(2, 4, 5, 5)) - m.rand(2, 4, 5, 5)).abs().mean()


@network
def segmenter(m: Any) -> Any:
    nn = m.nn
    down = nn.Conv2d(1, 4, 2, stride=2)
    model = nn.ModuleDict({"down": down, "up": nn.ConvTranspose2d(4, 2, 2, stride=2), "last": nn.Conv2d(3, 2, 1)})

    def loss() -> Any:
        x = m.randn(2, 1, 6, 6)
        inner = nn.functional.interpolate(model["down"](x), scale_factor=2, mode="bilinear").tanh()[..., ::2, ::2]
        return nn.functional.cross_entropy(model["last"](m.cat([x, model["up"](inner)], 1)), m.randint(2, (2, 6, 6)))

    return model, loss


@network
def tagger(m: Any) -> Any:
    nn = m.nn
    model = nn.ModuleList([nn.Embedding(12, 5, padding_idx=0), nn.LSTM(5, 4, bidirectional=True), nn.Linear(8, 3)])

    def loss() -> Any:
        words, tags = m.randint(12, (7, 2)), m.randint(3, (14,))
        return nn.functional.cross_entropy(model[2](model[1](model[0](words))[0]).view(-1, 3), tags, ignore_index=1)

    return model, loss


@network
def translator_with_attention(m: Any) -> Any:
    nn = m.nn
    model = nn.ModuleDict(
        {"words": nn.Embedding(9, 6), "encoder": nn.GRU(6, 6, batch_first=True), "decoder": nn.GRUCell(12, 6)}
    )

    def loss() -> Any:
        states, last = model["encoder"](model["words"](m.randint(9, (3, 5))))
        hidden, total = last[0], 0
        for target in m.randint(9, (4, 3)):
            weights = (states @ hidden.unsqueeze(2)).softmax(1)
            hidden = model["decoder"](m.cat([(weights * states).sum(1), model["words"](target)], 1), hidden)
            total = total + nn.functional.cross_entropy(hidden @ model["words"].weight.t(), target)
        return total

    return model, loss


@network
def language_model(m: Any) -> Any:
    nn = m.nn
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    model = nn.ModuleDict({"words": nn.Embedding(11, 8), "body": nn.TransformerEncoder(layer, 2), "out": nn.Linear(8, 11)})
    model["out"].weight = model["words"].weight

    def loss() -> Any:
        text = m.randint(11, (3, 7))
        mask = nn.Transformer.generate_square_subsequent_mask(6)
        out = model["out"](model["body"](model["words"](text[:, :-1]), mask, is_causal=True))
        return nn.functional.cross_entropy(out.flatten(0, 1), text[:, 1:].flatten())

    return model, loss


@network
def variational_autoencoder(m: Any) -> Any:
    nn = m.nn
    model = nn.ModuleList([nn.Linear(10, 8), nn.Linear(4, 10)])

    def loss() -> Any:
        x = m.rand(6, 10)
        mean, logvar = model[0](x).chunk(2, 1)
        seen = model[1](mean + (0.5 * logvar).exp() * m.randn_like(mean)).sigmoid()
        divergence = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum()
        return nn.functional.binary_cross_entropy(seen, x, reduction="sum") + divergence

    return model, loss


@network
def critic_with_gradient_penalty(m: Any) -> Any:
    nn = m.nn
    model = nn.Sequential(nn.Conv1d(1, 3, 3), nn.Softplus(), nn.Flatten(), nn.Linear(18, 1))

    def loss() -> Any:
        x = m.randn(4, 1, 8, requires_grad=True)
        (slope,) = m.autograd.grad(model(x).sum(), x, create_graph=True)
        return ((slope.flatten(1).norm(2, dim=1) - 1) ** 2).mean()

    return model, loss


@network
def physics_informed(m: Any) -> Any:
    nn = m.nn
    model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    model.apply(lambda layer: nn.init.xavier_normal_(layer.weight) if isinstance(layer, nn.Linear) else None)

    def loss() -> Any:
        x = m.linspace(0, 1, 9).view(-1, 1).requires_grad_()
        u = model(x)
        (du,) = m.autograd.grad(u, x, m.ones_like(u), create_graph=True)
        (d2u,) = m.autograd.grad(du.sum(), x, create_graph=True)
        return (d2u + u * du).square().mean() + u[0].square().squeeze()

    return model, loss


@network
def contrastive(m: Any) -> Any:
    nn = m.nn
    model = nn.Sequential(nn.Linear(6, 8), nn.SiLU(), nn.LayerNorm(8), nn.Linear(8, 4))

    def loss() -> Any:
        x = m.randn(5, 6)
        z = nn.functional.normalize(model(m.cat([x, x + 0.1 * m.randn_like(x)])), dim=1)
        likeness = (z @ z.T / 0.5).masked_fill(m.eye(10, dtype=m.bool), float("-inf"))
        return nn.functional.cross_entropy(likeness, m.arange(10).roll(5))

    return model, loss


@network
def meta_learner(m: Any) -> Any:
    model = m.nn.Linear(3, 1)

    def loss() -> Any:
        x, y, weights = m.randn(6, 3), m.randn(6, 1), list(model.parameters())
        for _ in range(2):
            inner = m.nn.functional.mse_loss(m.nn.functional.linear(x, *weights).tanh(), y)
            weights = [w - 0.1 * g for w, g in zip(weights, m.autograd.grad(inner, weights, create_graph=True), strict=True)]
        return m.nn.functional.smooth_l1_loss(m.nn.functional.linear(x, *weights), y)

    return model, loss


def sgd(m: Any, parameters: Any) -> Any:
    return m.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-3)


def adamw(m: Any, parameters: Any) -> Any:
    return m.optim.AdamW(parameters, lr=1e-3)


def values(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach().numpy().copy()


def trained(m: Any, build: Callable[[Any], Any], make_optimizer: Callable[[Any, Any], Any]) -> list[Any]:
    """What three steps are like: each loss, its gradients and their norm; and the state at the end."""
    m.manual_seed(4)
    model, loss_of_step = build(m)
    optimizer = make_optimizer(m, model.parameters())
    schedule = m.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
    said: list[Any] = [repr(model)]
    for _ in range(3):
        loss = loss_of_step()
        optimizer.zero_grad()
        loss.backward()
        norm = m.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        said += [values(t) for t in (loss, norm, *(p.grad for p in model.parameters()))]
    return said + [values(v) for v in model.state_dict().values()]


# AdamW divides by the size of a gradient: where that is rounding alone, float32 would compare noise
@pytest.mark.parametrize(("make_optimizer", "kind", "tolerance"), [(sgd, "float32", 2e-5), (adamw, "float64", 1e-9)])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_learns_as_pytorchs(name: str, make_optimizer: Any, kind: str, tolerance: float) -> None:
    said = []
    for m in (av, torch):
        m.set_default_dtype(getattr(m, kind))
        try:
            said.append(trained(m, NETWORKS[name], make_optimizer))
        finally:
            m.set_default_dtype(m.float32)
    mine, theirs = said
    assert mine[0] == theirs[0] and len(mine) == len(theirs)
    for a, b in zip(mine[1:], theirs[1:], strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=tolerance * 50, atol=tolerance)
