"""The workloads of `benchmarks.core`: for each library a function that runs forward and backward once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_viz as av

Run = Callable[[], Any]


def peer(name: str) -> Any:
    """A library to compare with, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


torch, hips, mygrad, micrograd = peer("torch"), peer("autograd"), peer("mygrad"), peer("micrograd.engine")
if torch is not None:
    torch.set_num_threads(1)


def chain_of(x: Any) -> Any:
    z = x
    for _ in range(500):
        z = z * x + x
    return z


def chain() -> dict[str, Run]:
    """1,000 ops on single numbers, one after the other."""

    def torch_like(t: Any) -> Run:
        x = t.tensor(0.9, requires_grad=True)

        def run() -> None:
            x.grad = None
            chain_of(x).backward()

        return run

    runs = {"autograd_viz": torch_like(av)}
    if torch:
        runs["torch"] = torch_like(torch)
    if hips:
        gradient = hips.grad(chain_of)
        runs["HIPS autograd"] = lambda: gradient(0.9)
    if mygrad:
        for guarded in (True, False):
            runs[f"MyGrad, guard {'on' if guarded else 'off'}"] = mygrad_chain(guarded)
    if micrograd:

        def micro() -> None:
            sys.setrecursionlimit(10_000)  # it walks the graph recursively
            x = micrograd.Value(0.9)
            z = chain_of(x)
            z.backward()

        runs["micrograd"] = micro
    return runs


def mygrad_chain(guarded: bool) -> Run:
    def run() -> None:
        (mygrad.turn_memory_guarding_on if guarded else mygrad.turn_memory_guarding_off)()
        x = mygrad.tensor(0.9)
        chain_of(x).backward()

    return run


def mlp_of(sizes: tuple[int, ...], batch: int, classify: bool) -> dict[str, Run]:
    """A perceptron with relu between its layers, trained on one batch."""
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal((a, b)).astype(np.float32) * 0.3 for a, b in zip(sizes, sizes[1:], strict=False)]
    data = generator.standard_normal((batch, sizes[0])).astype(np.float32)
    labels = generator.integers(0, sizes[-1], batch)

    def torch_like(t: Any) -> Run:
        ws = [t.tensor(w, requires_grad=True) for w in weights]
        bs = [t.zeros(w.shape[1], requires_grad=True) for w in weights]
        x, y = t.tensor(data), t.tensor(labels)

        def run() -> None:
            h = x
            for p in (*ws, *bs):
                p.grad = None
            for k, (w, b) in enumerate(zip(ws, bs, strict=True)):
                h = h @ w + b
                if k < len(ws) - 1:
                    h = h.relu()
            loss = t.nn.functional.cross_entropy(h, y) if classify else (h * h).mean()
            loss.backward()

        return run

    runs = {"autograd_viz": torch_like(av)}
    if torch:
        runs["torch"] = torch_like(torch)
    if hips and not classify:
        runs["HIPS autograd"] = hips_mlp(weights, data)
    if mygrad and not classify:
        runs |= {f"MyGrad, guard {'on' if g else 'off'}": mygrad_mlp(weights, data, g) for g in (True, False)}
    return runs


def hips_mlp(weights: list[Any], data: Any) -> Run:
    anp = importlib.import_module("autograd.numpy")

    def loss(params: Any) -> Any:
        h = data
        for k, (w, b) in enumerate(params):
            h = anp.dot(h, w) + b
            if k < len(params) - 1:
                h = anp.maximum(h, 0)
        return anp.mean(h * h)

    gradient = hips.grad(loss)
    params = [(w, np.zeros(w.shape[1], np.float32)) for w in weights]
    return lambda: gradient(params)


def mygrad_mlp(weights: list[Any], data: Any, guarded: bool) -> Run:
    params = [(mygrad.tensor(w), mygrad.tensor(np.zeros(w.shape[1], np.float32))) for w in weights]

    def run() -> None:
        (mygrad.turn_memory_guarding_on if guarded else mygrad.turn_memory_guarding_off)()
        h: Any = data
        for k, (w, b) in enumerate(params):
            h = mygrad.matmul(h, w) + b
            if k < len(params) - 1:
                h = mygrad.maximum(h, 0)
        (h * h).mean().backward()

    return run


def small_mlp() -> dict[str, Run]:
    """2-16-16-1 on 4 rows."""
    return mlp_of((2, 16, 16, 1), 4, classify=False)


def mlp() -> dict[str, Run]:
    """784-256-128-10 on 64 rows, cross entropy."""
    return mlp_of((784, 256, 128, 10), 64, classify=True)


def both(make: Callable[[Any], Run]) -> dict[str, Run]:
    """The same function here and in PyTorch."""
    return {name: make(t) for name, t in (("autograd_viz", av), ("torch", torch)) if t is not None}


def cnn() -> dict[str, Run]:
    """conv 1-8, pool, conv 8-16, pool, linear, on 16 pictures of 28 x 28."""

    def make(t: Any) -> Run:
        n = t.nn
        model = n.Sequential(
            n.Conv2d(1, 8, 3), n.ReLU(), n.MaxPool2d(2),
            n.Conv2d(8, 16, 3), n.ReLU(), n.MaxPool2d(2),
            n.Flatten(), n.Linear(400, 10),
        )  # fmt: skip
        x, y = t.randn(16, 1, 28, 28), t.arange(16) % 10

        def run() -> None:
            model.zero_grad()
            t.nn.functional.cross_entropy(model(x), y).backward()

        return run

    return both(make)


def transformer() -> dict[str, Run]:
    """Two encoder layers, 8 tokens of 32, 4 heads, 4 sentences."""

    def make(t: Any) -> Run:
        layer = t.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        model = t.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        x = t.randn(4, 8, 32)

        def run() -> None:
            model.zero_grad()
            model(x).pow(2).mean().backward()

        return run

    return both(make)


def second_order() -> dict[str, Run]:
    """The gradient of a gradient of x·x·y, 100 times."""

    def torch_like(t: Any) -> Run:
        x, y = t.tensor(2.0, requires_grad=True), t.tensor(3.0, requires_grad=True)

        def run() -> None:
            for _ in range(100):
                (g,) = t.autograd.grad(x * x * y, x, create_graph=True)
                t.autograd.grad(g, x)

        return run

    runs = {"autograd_viz": torch_like(av)}
    if torch:
        runs["torch"] = torch_like(torch)
    if hips:
        second = hips.grad(hips.grad(lambda x: x * x * 3.0))
        runs["HIPS autograd"] = lambda: [second(2.0) for _ in range(100)]
    return runs


def gradient_penalty() -> dict[str, Run]:
    """A perceptron's loss plus the squared norm of its gradient with respect to the input."""
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal(s).astype(np.float32) * 0.3 for s in ((8, 32), (32, 1))]
    data = generator.standard_normal((16, 8)).astype(np.float32)

    def torch_like(t: Any) -> Run:
        ws = [t.tensor(w, requires_grad=True) for w in weights]

        def run() -> None:
            x = t.tensor(data, requires_grad=True)
            y = (x @ ws[0]).tanh() @ ws[1]
            (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
            for w in ws:
                w.grad = None
            (y.pow(2).mean() + g.pow(2).sum()).backward()

        return run

    return both(torch_like)


def gelu_forward() -> dict[str, Run]:
    """GELU of 64 x 256 numbers, not recorded."""

    def make(t: Any) -> Run:
        x = t.randn(64, 256)
        return lambda: t.nn.functional.gelu(x)

    return both(make)


def gelu() -> dict[str, Run]:
    """GELU of 64 x 256 numbers, and its gradient."""

    def make(t: Any) -> Run:
        x, g = t.randn(64, 256, requires_grad=True), t.ones(64, 256)

        def run() -> None:
            x.grad = None
            t.nn.functional.gelu(x).backward(g)

        return run

    return both(make)


def scalar_writes() -> dict[str, Run]:
    """c[i] = a[i] + b[i] for 100 numbers, without gradients."""

    def make(t: Any) -> Run:
        a, b, c = t.randn(100), t.randn(100), t.zeros(100)

        def run() -> None:
            for i in range(100):
                c[i] = a[i] + b[i]

        return run

    return both(make)


WORKLOADS = {
    f.__name__: f
    for f in (chain, small_mlp, mlp, cnn, transformer, second_order, gradient_penalty, gelu_forward, gelu, scalar_writes)
}
