"""Small PyTorch networks of many architectures, for what must be true of every one of them.

A program builds its parameters when it is called and gives back `(forward, leaves)`: `forward()` returns the root of a backward
pass, or the root and the first gradient; `leaves` are the tensors whose grad counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

Program = Callable[[], tuple[Callable[[], Any], list[Any]]]
MODELS: dict[str, Program] = {}
VERSION = tuple(map(int, torch.__version__.split(".")[:2]))


def model(make: Program) -> Program:
    """Enter a program under its name."""
    MODELS[make.__name__] = make
    return make


def _of(module: Any, forward: Callable[[], Any], *more: Any) -> tuple[Callable[[], Any], list[Any]]:
    return forward, [*module.parameters(), *more]


@model
def mlp():
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
    x, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    return _of(net, lambda: F.cross_entropy(net(x), y))


@model
def cnn_with_batch_norm():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 2), nn.BatchNorm2d(4), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3),
    )  # fmt: skip
    x = torch.randn(3, 1, 8, 8)
    return _of(net, lambda: net(x).square().mean())


class Residual(nn.Module):
    """The basic block of a ResNet, with a projection."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 4, 3, padding=1, stride=2, bias=False), nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.norm_a, self.norm_b = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.short = nn.Sequential(nn.Conv2d(2, 4, 1, stride=2, bias=False), nn.BatchNorm2d(4))

    def forward(self, x: Any) -> Any:
        out = self.norm_b(self.b(F.relu(self.norm_a(self.a(x)), inplace=True)))
        out += self.short(x)
        return F.relu(out)


@model
def resnet_block():
    net, x = Residual(), torch.randn(2, 2, 6, 6, requires_grad=True)
    return _of(net, lambda: net(x).sum(), x)


def _recurrent(kind: Any) -> Program:
    def make():
        net, head, x = kind(3, 4, num_layers=2, bidirectional=True), nn.Linear(8, 1), torch.randn(5, 2, 3)
        return (lambda: head(net(x)[0]).mean()), [*net.parameters(), *head.parameters()]

    return make


MODELS["lstm"], MODELS["gru"], MODELS["rnn"] = _recurrent(nn.LSTM), _recurrent(nn.GRU), _recurrent(nn.RNN)


@model
def lstm_cell_by_hand():
    cell, xs = nn.LSTMCell(3, 4), torch.randn(4, 2, 3)

    def forward():
        h = c = torch.zeros(2, 4)
        for x in xs.unbind(0):
            h, c = cell(x, (h, c))
        return h.pow(2).sum()

    return _of(cell, forward)


class Block(nn.Module):
    """A block of GPT-2: attention by hand with a causal mask, and an MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_a, self.norm_b = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        n, t, width = x.shape
        q, k, v = (
            p.view(n, t, self.heads, width // self.heads).transpose(1, 2) for p in self.qkv(self.norm_a(x)).split(width, dim=2)
        )
        score = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        score = score.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
        seen = (self.drop(score.softmax(-1)) @ v).transpose(1, 2).contiguous().view(n, t, width)
        x = x + self.drop(self.out(seen))
        return x + self.drop(self.down(F.gelu(self.up(self.norm_b(x)), approximate="tanh")))


class GPT(nn.Module):
    """GPT-2 with tied embeddings; tiny, but with all its ops."""

    def __init__(self, layers: int, width: int = 8, heads: int = 2, words: int = 11) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(16, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids: Any) -> Any:
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))


def gpt(layers: int) -> Program:
    """GPT-2 with so many layers."""

    def make():
        net, ids = GPT(layers), torch.randint(0, 11, (2, 6))
        return _of(net, lambda: net(ids))

    return make


MODELS["gpt2_two_layers"], MODELS["gpt2_twelve_layers"] = gpt(2), gpt(12)


@model
def encoder():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    net, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(2, 4, 8)
    mask = torch.tensor([[False, False, False, True], [False] * 4])
    return _of(net, lambda: net(x, src_key_padding_mask=mask).mean())


@model
def transformer_with_decoder():
    net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    net.encoder.enable_nested_tensor = False
    a, b = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    return _of(net, lambda: net(a, b, tgt_mask=nn.Transformer.generate_square_subsequent_mask(4)).square().mean())


@model
def bert():
    words, places, kinds = nn.Embedding(13, 8, padding_idx=0), nn.Embedding(8, 8), nn.Embedding(2, 8)
    norm, pool, head = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 13)
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
    body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    ids, segment = torch.randint(0, 13, (2, 5)), torch.tensor([[0, 0, 0, 1, 1]] * 2)
    parts = nn.ModuleList([words, places, kinds, norm, pool, head, body])

    def forward():
        x = F.dropout(norm(words(ids) + places(torch.arange(5)) + kinds(segment)), 0.1)
        x = body(x)
        masked = F.cross_entropy(head(x).transpose(1, 2), ids, ignore_index=0)
        return masked + torch.tanh(pool(x[:, 0])).pow(2).mean()

    return _of(parts, forward)


@model
def vision_transformer():
    patch = nn.Conv2d(1, 8, 4, 4)
    token, places = nn.Parameter(torch.randn(1, 1, 8)), nn.Parameter(torch.randn(1, 5, 8))
    body = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
    head, image = nn.Linear(8, 3), torch.randn(2, 1, 8, 8)

    def forward():
        x = torch.cat([token.expand(2, -1, -1), patch(image).flatten(2).transpose(1, 2)], 1) + places
        return F.nll_loss(F.log_softmax(head(body(x)[:, 0]), -1), torch.tensor([0, 2]))

    return forward, [token, places, *(p for m in (patch, body, head) for p in m.parameters())]


@model
def unet():
    down, deep, up = nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 4, 3, padding=1), nn.ConvTranspose2d(4, 2, 2, stride=2)
    last, norm, image = nn.Conv2d(4, 1, 1), nn.GroupNorm(2, 4), torch.rand(2, 1, 8, 8)

    def forward():
        a = F.leaky_relu(down(image), 0.1)
        b = norm(deep(F.max_pool2d(a, 2)))
        c = up(F.interpolate(F.avg_pool2d(b, 2), scale_factor=2, mode="bilinear"))
        return F.binary_cross_entropy_with_logits(last(torch.cat([a, c], 1)), image)

    return _of(nn.ModuleList([down, deep, up, last, norm]), forward)


@model
def variational_autoencoder():
    enc, dec, x = nn.Linear(6, 4), nn.Linear(2, 6), torch.rand(3, 6)

    def forward():
        mean, log = enc(x).chunk(2, dim=-1)
        q = torch.distributions.Normal(mean, (0.5 * log).exp())
        kl = torch.distributions.kl_divergence(q, torch.distributions.Normal(0.0, 1.0)).sum()
        return F.binary_cross_entropy(dec(q.rsample()).sigmoid(), x, reduction="sum") + kl

    return _of(nn.ModuleList([enc, dec]), forward)


def _gan(for_generator: bool) -> Program:
    def make():
        made, judge = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)), nn.utils.spectral_norm(nn.Linear(3, 1))
        real = torch.randn(4, 3)

        def forward():
            fake = made(torch.randn(4, 2))
            if for_generator:
                return F.softplus(-judge(fake)).mean()
            return F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()

        return _of(nn.ModuleList([made, judge]), forward)

    return make


MODELS["gan_generator"], MODELS["gan_judge"] = _gan(True), _gan(False)


@model
def mixture_of_experts():
    gate, experts, x = nn.Linear(4, 3), nn.ModuleList(nn.Linear(4, 4) for _ in range(3)), torch.randn(6, 4)

    def forward():
        weight, which = gate(x).softmax(-1).topk(2, dim=-1)
        out = torch.zeros(6, 4)
        for i, expert in enumerate(experts):
            row, slot = torch.where(which == i)
            out = out.index_add(0, row, expert(x[row]) * weight[row, slot, None])
        return out.square().mean()

    return _of(nn.ModuleList([gate, *experts]), forward)


@model
def weight_tying():
    words, x = nn.Embedding(7, 4), torch.tensor([[0, 3], [2, 3]])
    head = nn.Linear(4, 7, bias=False)
    head.weight = words.weight
    return _of(words, lambda: F.cross_entropy(head(words(x)).flatten(0, 1), x.flatten()))


@model
def gradient_penalty():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1)), torch.randn(2, 3, requires_grad=True)

    def forward():
        out = net(x).sum()
        (slope,) = torch.autograd.grad(out, x, create_graph=True)
        return out + (slope.norm(2, dim=1) - 1).square().mean()

    return _of(net, forward, x)


@model
def graph_convolution():
    weight, x = nn.Parameter(torch.randn(3, 2)), torch.randn(4, 3)
    edges = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
    return (
        lambda: torch.zeros(4, 2).scatter_add(0, edges[1][:, None].expand(-1, 2), (x @ weight)[edges[0]]).amax(0).sum(),
        [weight],
    )


@model
def siamese_with_triplet_loss():
    net = nn.Sequential(nn.Linear(3, 4), nn.PReLU(), nn.Linear(4, 2))
    a, p, n = torch.randn(3, 4, 3).unbind(0)
    return _of(net, lambda: F.triplet_margin_loss(net(a), F.normalize(net(p)), net(n)))


@model
def diffusion_step():
    net, time, x = nn.Linear(4, 4), nn.Embedding(10, 4), torch.randn(3, 4)

    def forward():
        t, noise = torch.randint(0, 10, (3,)), torch.randn(3, 4)
        keep = torch.linspace(0.99, 0.1, 10)[t][:, None]
        return F.mse_loss(net(keep.sqrt() * x + (1 - keep).sqrt() * noise + time(t)), noise)

    return _of(nn.ModuleList([net, time]), forward)


@model
def ctc_speech():
    net, x, y = nn.Linear(3, 4), torch.randn(6, 2, 3), torch.tensor([[1, 2], [3, 1]])
    return _of(net, lambda: F.ctc_loss(net(x).log_softmax(-1), y, (6, 6), (2, 2)))


@model
def policy_gradient():
    net, x = nn.Linear(3, 2), torch.randn(5, 3)

    def forward():
        chosen = torch.distributions.Categorical(logits=net(x))
        action = chosen.sample()
        return -(chosen.log_prob(action) * action.float()).mean() - 0.01 * chosen.entropy().mean()

    return _of(net, forward)
