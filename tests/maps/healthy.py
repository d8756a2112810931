"""Models that nothing is wrong with, before their first update: each gives a loss, and the models by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Made = tuple[Any, dict[str, nn.Module]]
HEALTHY: dict[str, Callable[[], Made]] = {}


def healthy(make: Callable[[], Made]) -> Callable[[], Made]:
    """Add a model to the list."""
    HEALTHY[make.__name__] = make
    return make


class Residual(nn.Module):
    """Convolutions beside the identity; the last norm may begin at zero."""

    def __init__(self, width: int, zero: bool = False) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        if zero:
            nn.init.zeros_(self.bn2.weight)

    def forward(self, x: Any) -> Any:
        return functional.relu(x + self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x))))))


class Norm(nn.Module):
    """RMSNorm as Llama has it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Any) -> Any:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Attention(nn.Module):
    """Attention by hand."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: Any) -> Any:
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), float("-inf"))
        return self.o(scores.softmax(-1) @ v)


class Gated(nn.Module):
    """The MLP of Llama."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Any) -> Any:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    """A layer of a language model."""

    def __init__(self, width: int, norm: type[nn.Module], mlp: nn.Module) -> None:
        super().__init__()
        self.norm1, self.attn, self.norm2, self.mlp = norm(width), Attention(width), norm(width), mlp

    def forward(self, x: Any) -> Any:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Language(nn.Module):
    """Embedding, layers, norm, head; all weights begin with a deviation of 0.02."""

    def __init__(self, norm: type[nn.Module], mlp: Callable[[], nn.Module], layers: int = 3, width: int = 32) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, width)
        self.layers = nn.ModuleList(Layer(width, norm, mlp()) for _ in range(layers))
        self.norm, self.head = norm(width), nn.Linear(width, 50, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, ids: Any) -> Any:
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def next_token(model: nn.Module) -> Any:
    """The loss of a language model."""
    ids = torch.randint(0, 50, (2, 12))
    return functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def layers_of(*widths: int, act: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Linear layers with activations between."""
    parts = [part for a, b in zip(widths, widths[1:], strict=False) for part in (nn.Linear(a, b), act())]
    return nn.Sequential(*parts[:-1])


@healthy
def mlp_wide() -> Made:
    model = nn.Sequential(nn.Linear(64, 256), nn.Linear(256, 256))
    return model(torch.randn(64, 64)).pow(2).mean(), {"model": model}


@healthy
def mlp_deep() -> Made:
    model = layers_of(16, 64, 64, 64, 64, 64, 10)
    return functional.cross_entropy(model(torch.randn(32, 16)), torch.randint(0, 10, (32,))), {"model": model}


@healthy
def mlp_narrow_tanh() -> Made:
    model = layers_of(2, 8, 8, 8, 1, act=nn.Tanh)
    return model(torch.randn(200, 2)).square().sum(), {"model": model}


@healthy
def resnet() -> Made:
    blocks = [Residual(8) for _ in range(4)]
    model = nn.Sequential(nn.Conv2d(3, 8, 3), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    return functional.cross_entropy(model(torch.randn(4, 3, 12, 12)), torch.randint(0, 5, (4,))), {"model": model}


@healthy
def resnet_of_zero_norms() -> Made:
    model = nn.Sequential(nn.Conv2d(3, 8, 3), *(Residual(8, True) for _ in range(4)), nn.Flatten(), nn.Linear(800, 5))
    return functional.cross_entropy(model(torch.randn(4, 3, 12, 12)), torch.randint(0, 5, (4,))), {"model": model}


@healthy
def transformer_pre_norm() -> Made:
    layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, norm_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    return model(torch.randn(2, 16, 32)).pow(2).mean(), {"model": model}


@healthy
def transformer_post_norm() -> Made:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True), 4)
    return model(torch.randn(2, 16, 32)).pow(3).mean(), {"model": model}


@healthy
def llama() -> Made:
    model = Language(Norm, lambda: Gated(32))
    return next_token(model), {"model": model}


@healthy
def gpt() -> Made:
    model = Language(nn.LayerNorm, lambda: layers_of(32, 128, 32, act=nn.GELU))
    return next_token(model), {"model": model}


@healthy
def lstm() -> Made:
    embed, model, head = nn.Embedding(20, 16), nn.LSTM(16, 32, 2, batch_first=True), nn.Linear(32, 20)
    ids = torch.randint(0, 20, (4, 9))
    return functional.cross_entropy(head(model(embed(ids))[0]).transpose(1, 2), ids), {
        "embed": embed,
        "model": model,
        "head": head,
    }


@healthy
def gru_cell() -> Made:
    cell, head, h = nn.GRUCell(4, 16), nn.Linear(16, 1), torch.zeros(8, 16)
    for x in torch.randn(12, 8, 4):
        h = cell(x, h)
    return head(h).square().mean(), {"cell": cell, "head": head}


@healthy
def vae() -> Made:
    encoder, decoder, x = layers_of(64, 32, 8), layers_of(4, 32, 64), torch.rand(16, 64)
    mean, logvar = encoder(x).chunk(2, -1)
    z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
    kl = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum(-1).mean()
    loss = functional.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / 16
    return loss + 1e-4 * kl, {"encoder": encoder, "decoder": decoder}


@healthy
def gan_discriminator() -> Made:
    g, d, real = layers_of(4, 32, 2), layers_of(2, 32, 1), torch.randn(16, 2)
    fake = g(torch.randn(16, 4))
    return functional.softplus(-d(real)).mean() + functional.softplus(d(fake.detach())).mean(), {"g": g, "d": d}


@healthy
def gan_generator() -> Made:
    g, d = layers_of(4, 32, 2), layers_of(2, 32, 1).requires_grad_(False)
    return functional.softplus(-d(g(torch.randn(16, 4)))).mean(), {"g": g, "d": d}


@healthy
def cnn_with_norms() -> Made:
    parts = [part for a, b in ((1, 8), (8, 16), (16, 16)) for part in (nn.Conv2d(a, b, 3), nn.BatchNorm2d(b), nn.ReLU())]
    model = nn.Sequential(*parts, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 25, 10))
    return functional.cross_entropy(model(torch.randn(8, 1, 16, 16)), torch.randint(0, 10, (8,))), {"model": model}


class UNet(nn.Module):
    """Down, a bottom, up, with ways across."""

    def __init__(self) -> None:
        super().__init__()
        self.d1, self.d2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.bottom = nn.Conv2d(8, 8, 3, padding=1)
        self.u2, self.u1 = nn.Conv2d(16, 4, 3, padding=1), nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, x: Any) -> Any:
        a = functional.relu(self.d1(x))
        b = functional.relu(self.d2(functional.max_pool2d(a, 2)))
        c = functional.relu(self.bottom(functional.max_pool2d(b, 2)))
        b = functional.relu(self.u2(torch.cat([b, functional.interpolate(c, scale_factor=2)], 1)))
        return self.u1(torch.cat([a, functional.interpolate(b, scale_factor=2)], 1))


@healthy
def unet_of_diffusion() -> Made:
    model, x, noise = UNet(), torch.randn(4, 1, 16, 16), torch.randn(4, 1, 16, 16)
    return functional.mse_loss(model(0.8 * x + 0.6 * noise), noise), {"model": model}


class ViT(nn.Module):
    """Patches, a token for the class, places."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.head = nn.Conv2d(3, 32, 4, 4), nn.Linear(32, 10)
        self.token, self.places = nn.Parameter(torch.zeros(1, 1, 32)), nn.Parameter(torch.randn(1, 17, 32) * 0.02)
        self.blocks = nn.Sequential(*(Layer(32, nn.LayerNorm, layers_of(32, 64, 32, act=nn.GELU)) for _ in range(3)))
        self.norm = nn.LayerNorm(32)

    def forward(self, x: Any) -> Any:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([x, self.token.expand(x.shape[0], -1, -1)], 1) + self.places  # attention looks back
        return self.head(self.norm(self.blocks(x))[:, -1])


@healthy
def vit() -> Made:
    model = ViT()
    return functional.cross_entropy(model(torch.randn(4, 3, 16, 16)), torch.randint(0, 10, (4,))), {"model": model}


class Experts(nn.Module):
    """A router with experts, of which the best two count."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.experts = nn.Linear(16, 4), nn.ModuleList(layers_of(16, 32, 16) for _ in range(4))

    def forward(self, x: Any) -> Any:
        gates = self.router(x).softmax(-1)
        gates = gates * (gates >= gates.topk(2, -1).values[:, -1:])
        out = x
        for k, expert in enumerate(self.experts):
            out = out + gates[:, k : k + 1] * expert(x)
        return out


@healthy
def mixture_of_experts() -> Made:
    model = nn.Sequential(nn.Linear(8, 16), Experts(), nn.Linear(16, 1))
    return model(torch.randn(3, 8)).pow(2).mean(), {"model": model}


@healthy
def embedding_bag() -> Made:
    bag, head = nn.EmbeddingBag(1000, 16), nn.Linear(16, 4)
    return functional.cross_entropy(head(bag(torch.randint(0, 1000, (8, 20)))), torch.randint(0, 4, (8,))), {
        "bag": bag,
        "head": head,
    }


@healthy
def actor_critic() -> Made:
    actor, critic, x = layers_of(4, 32, 3), layers_of(4, 32, 1), torch.randn(32, 4)
    value, log_probs = critic(x).squeeze(-1), actor(x).log_softmax(-1)
    returns, actions = torch.randn(32), torch.randint(0, 3, (32, 1))
    chosen = log_probs.gather(1, actions).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = -(chosen * (returns - value).detach()).mean()
    return loss + 0.5 * functional.mse_loss(value, returns) - 0.01 * entropy, {"actor": actor, "critic": critic}


@healthy
def maml() -> Made:
    model, x, y = layers_of(1, 20, 20, 1), torch.randn(10, 1), torch.randn(10, 1)
    inner = functional.mse_loss(model(x), y)
    names = [name for name, _ in model.named_parameters()]
    grads = torch.autograd.grad(inner, list(model.parameters()), create_graph=True)
    fast = {n: p - 0.01 * g for n, p, g in zip(names, model.parameters(), grads, strict=True)}
    return functional.mse_loss(torch.func.functional_call(model, fast, (x,)), y), {"model": model}


class Coupling(nn.Module):
    """A layer of RealNVP."""

    def __init__(self) -> None:
        super().__init__()
        self.s, self.t = layers_of(2, 16, 2, act=nn.Tanh), layers_of(2, 16, 2)

    def forward(self, x: Any) -> Any:
        a, b = x.chunk(2, -1)
        s = self.s(a).tanh()
        return torch.cat([b * s.exp() + self.t(a), a], -1), s.sum(-1)


@healthy
def real_nvp() -> Made:
    flows, z, total = nn.ModuleList(Coupling() for _ in range(4)), torch.randn(64, 4), torch.zeros(64)
    for flow in flows:
        z, log_det = flow(z)
        total = total + log_det
    return (0.5 * z.pow(2).sum(-1) - total).mean(), {"flows": flows}


@healthy
def autoencoder() -> Made:
    model, x = layers_of(100, 32, 4, 32, 100, act=nn.Sigmoid), torch.rand(50, 100)
    return functional.mse_loss(model(x), x), {"model": model}


@healthy
def clip() -> Made:
    image, text, scale = layers_of(12, 32, 8), layers_of(20, 32, 8), nn.Parameter(torch.tensor(2.659))
    a, b = functional.normalize(image(torch.randn(6, 12)), dim=-1), functional.normalize(text(torch.randn(6, 20)), dim=-1)
    logits, labels = scale.exp() * a @ b.T, torch.arange(6)
    return (functional.cross_entropy(logits, labels) + functional.cross_entropy(logits.T, labels)) / 2, {
        "image": image,
        "text": text,
    }


@healthy
def low_rank() -> Made:
    base, down, up = nn.Linear(16, 16).requires_grad_(False), nn.Linear(16, 2, bias=False), nn.Linear(2, 16, bias=False)
    nn.init.zeros_(up.weight)
    x = torch.randn(8, 16)
    return (base(x) + up(down(x))).pow(2).mean(), {"base": base, "down": down, "up": up}


class Modulated(nn.Module):
    """A block of DiT: what it adds begins at zero."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(16, elementwise_affine=False), layers_of(16, 32, 16)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(16, 48))
        nn.init.zeros_(self.modulation[1].weight)
        nn.init.zeros_(self.modulation[1].bias)

    def forward(self, x: Any, c: Any) -> Any:
        shift, scale, gate = self.modulation(c)[:, None].chunk(3, -1)
        return x + gate * self.mlp(self.norm(x) * (1 + scale) + shift)


class DiT(nn.Module):
    """Patches in, noise out, with a condition."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.t = nn.Linear(8, 16), layers_of(8, 16, 16, act=nn.SiLU)
        self.blocks, self.last = nn.ModuleList(Modulated() for _ in range(4)), nn.Linear(16, 8)

    def forward(self, x: Any, t: Any) -> Any:
        x, c = self.x(x), self.t(t)
        for block in self.blocks:
            x = block(x, c)
        return self.last(x)


@healthy
def dit() -> Made:
    model = DiT()
    return functional.mse_loss(model(torch.randn(2, 4, 8), torch.randn(2, 8)), torch.randn(2, 4, 8)), {"model": model}
