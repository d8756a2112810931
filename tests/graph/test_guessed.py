"""Of a graph that was not recorded the modules are guessed as a recording tells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

import autograd_viz as av  # noqa: E402
from autograd_viz.graph.model import Document  # noqa: E402
from autograd_viz.graph.paths import are_guessed, module_paths  # noqa: E402
from autograd_viz.sources.anything import graph_of, named  # noqa: E402
from autograd_viz.sources.shared.names import Names  # noqa: E402

from ..torch_models import GPT, Residual  # noqa: E402

pytestmark = pytest.mark.torch


class ResNet(nn.Module):
    """A stem, blocks that end in a ReLU after the residual way, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm, self.relu, self.pool = nn.Conv2d(3, 2, 3), nn.BatchNorm2d(2), nn.ReLU(True), nn.MaxPool2d(2)
        self.layers, self.head = nn.Sequential(Residual(), Same(4), Same(4)), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        x = self.layers(self.pool(self.relu(self.norm(self.stem(x)))))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1)).sum()


class Same(nn.Module):
    """The basic block without a projection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.norm_a, self.norm_b, self.relu = nn.BatchNorm2d(width), nn.BatchNorm2d(width), nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        out = self.norm_b(self.b(self.relu(self.norm_a(self.a(x)))))
        out += x
        return self.relu(out)


class UNet(nn.Module):
    """Down, down, up, with the way across; one pool for both."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.deep, self.last = self._double(1, 4), self._double(4, 8), self._double(8, 4)
        self.pool, self.up, self.out = nn.MaxPool2d(2), nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(4, 1, 1)

    def _double(self, inner: int, outer: int) -> Any:
        parts = ((nn.Conv2d(n, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU()) for n in (inner, outer))
        return nn.Sequential(*(m for part in parts for m in part))

    def forward(self, x: Any) -> Any:
        a = self.first(x)
        b = self.deep(self.pool(a))
        return self.out(self.last(torch.cat([self.up(b), a], 1))).square().mean()


class Recurrent(nn.Module):
    """An LSTM between an embedding and a head that share no weight."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.lstm = nn.Embedding(9, 4), nn.LSTM(4, 4, 2, batch_first=True)
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(4, 9)

    def forward(self, ids: Any) -> Any:
        return F.cross_entropy(self.head(self.drop(self.lstm(self.words(ids))[0])).flatten(0, 1), ids.flatten())


class Norm(nn.Module):
    """A root mean square norm, written by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Layer(nn.Module):
    """A norm, a gated MLP and the residual way."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.gate, self.up = Norm(), nn.Linear(4, 8, bias=False), nn.Linear(4, 8, bias=False)
        self.down = nn.Linear(8, 4, bias=False)

    def forward(self, x: Any) -> Any:
        h = self.norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    """Layers and a last norm."""

    def __init__(self) -> None:
        super().__init__()
        self.layers, self.norm = nn.ModuleList([Layer(), Layer()]), Norm()

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x).sum()


class Again(nn.Module):
    """A block that is called three times, with a weight that another computes."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)), nn.Tanh())
        self.out = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 2))

    def forward(self, x: Any) -> Any:
        return self.out(self.block(self.block(self.block(x)))).sum()


class Loops(nn.Module):
    """Recurrent modules that run op by op: nothing after the last turn has a weight."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.words, self.first, self.second = nn.Embedding(9, 4), kind(4, 4, batch_first=True), kind(4, 4, 2)
        self.look, self.head = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 2)

    def forward(self, ids: Any) -> Any:
        y, _ = self.first(self.words(ids))
        z, h = self.second(y.tanh())
        seen, _ = self.look(z, y, y)
        return self.head(seen).sum() + h.tanh().sum()


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "gpt": (lambda: GPT(2), lambda: torch.randint(0, 11, (2, 6))),
    "resnet": (ResNet, lambda: torch.randn(2, 3, 18, 18)),
    "unet": (UNet, lambda: torch.randn(2, 1, 8, 8)),
    "lstm": (Recurrent, lambda: torch.randint(0, 9, (2, 5))),
    "gru": (lambda: Loops(nn.GRU), lambda: torch.randint(0, 9, (2, 5))),
    "rnn": (lambda: Loops(nn.RNN), lambda: torch.randint(0, 9, (2, 3))),
    "llama": (Llama, lambda: torch.randn(2, 3, 4, requires_grad=True)),
    "again": (Again, lambda: torch.randn(2, 4)),
}


def by_node(document: Document) -> dict[str, str]:
    return {o.node: ".".join(p) for o, p in zip(document.ops, module_paths(document), strict=True) if o.node}


@pytest.mark.parametrize("how", ["params", "variable"])
@pytest.mark.parametrize("name", MODELS)
def test_the_guess_is_what_a_recording_tells(name: str, how: str) -> None:
    make, given = MODELS[name]
    net, x = make(), given()
    with av.record(net):
        recorded = graph_of(net(x), {}).document
    names: Any = Names({}, named(net)) if how == "params" else {"net": net, "part": next(net.children())}
    guessed = graph_of(net(x), names).document
    assert (are_guessed(recorded), are_guessed(guessed)) == (False, True)
    assert by_node(guessed) == by_node(recorded)
    classes = {m.path: m.name for m in guessed.modules}
    assert {m.path: m.name for m in recorded.modules}.items() <= classes.items()


def test_of_two_models_each_has_its_name() -> None:
    made, judge = nn.Sequential(nn.Linear(2, 3), nn.ReLU()), nn.Sequential(nn.Linear(3, 1), nn.Sigmoid())
    document = graph_of(judge(made(torch.randn(4, 2))).log().mean(), {"made": made, "judge": judge}).document
    paths = [p for p in by_node(document).values() if p]
    assert list(dict.fromkeys(paths)) == ["made.0", "made.1", "judge.0", "judge.1"]
    assert {m.path for m in document.modules} == {"made", "made.0", "made.1", "judge", "judge.0", "judge.1"}


def test_names_alone_tell_the_owners() -> None:
    net = Llama()
    document = graph_of(net(torch.randn(2, 3, 4)), Names({}, dict(net.named_parameters()))).document
    assert document.modules == ()
    found = set(by_node(document).values())
    assert {"layers.0.norm", "layers.1.gate", "layers.1", "norm", ""} <= found
