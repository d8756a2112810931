"""explain names the culprit of random programs of PyTorch, as hooks on every node of a pass of their own tell it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from .explained import blamed, run, stepped

pytestmark = pytest.mark.torch
START = """
torch.manual_seed(0)
x = torch.tensor([0.5, 0.7, 1.1, 1.6], requires_grad=True)
k, z = torch.tensor([0.3, 0.6, 0.9, 1.2]), torch.zeros(4)
m, n, p = torch.rand(4, 4), torch.full((4,), float("nan")), torch.tensor([3, 1, 0, 2])
h = x * 1.0
"""
FINE = (
    "h.tanh() + 0.5", "h.sigmoid()", "h.exp() * 0.3", "(h + 0.1).sqrt()", "(h + 1.5).log()", "h.softmax(0) + 0.2",
    "F.gelu(h + 0.5)", "(h + 0.5).relu()", "h.clamp(-9, 9)", "h.flip(0)", "h ** 1.5", "1 / (h + 1)", "h / (k + 1)", "h * k",
    "(m @ h).abs() + 0.1", "h.view(2, 2).t().reshape(4)", "torch.where(h > -5, h, k)", "F.layer_norm(h, (4,)).sigmoid()",
    "h - 0.1 * h.mean() + 0.5", "torch.sort(h)[0]", "h[p]", "h.masked_fill(h > 50, 0.0)", "F.softplus(h)", "h.std() + h",
    "h.sin() + 1.2", "F.linear(h, m) * 0.2 + 1", "torch.lerp(h, k, 0.3)", "torch.hypot(h, k)", "torch.lgamma(h + 2) + 1",
)  # fmt: skip
ZERO = (
    "h * z", "(-h - 5).relu()", "h.clamp(50, 60)", "(h * 1000).sigmoid()", "(h * 1000).tanh()", "h.round() + 1",
    "torch.where(h > 50, h, k)", "h.masked_fill(h > -50, 1.0)", "(h - h.detach()) ** 2 + 1", "(h - h.detach()).abs() + 1",
    "torch.maximum(h, k + 99)", "F.softshrink(h * 0.01) + 1", "z / (h + 1) + k", "(h * 0).std() + k",
    "(m * 0) @ h + k", "F.dropout(h, 1.0) + k", "torch.lerp(h, k, 1.0)", "F.threshold(-h, 0, 1.0)", "F.elu(h - 1e4) + 2",
    "torch.xlogy(z, h) + k", "F.layer_norm(h, (4,), weight=z) + k", "(h - h.detach()).cos()", "torch.atan2(z, h) + k",
)  # fmt: skip
BAD = tuple(
    f"torch.where(h < 50, h, {bad})"
    for bad in (
        "(h - h).sqrt()", "(h * 0).log()", "h / z", "h / 0", "(h * 1e4).exp()", "(h * 0) ** 0.5", "(h * 0).reciprocal()",
        "torch.hypot(h * 0, z)", "(h * 0).rsqrt()", "(h * 0 + 1).acos()", "torch.logit(h * 0)", "h * n",
        "(h + n).tanh()", "(h + n).softmax(0)", "(m * n) @ h", "(-h) ** h", "F.layer_norm(h + n, (4,))",
        "torch.xlogy(k, h * 0)", "torch.lgamma(h * 0)", "(h + n).norm()",
    )
)  # fmt: skip


def written(makers: tuple[str, ...], seed: int) -> str:
    """A program with one op that makes what is asked about, among others."""
    choose = random.Random(seed)
    before, after = ([choose.choice(FINE) for _ in range(choose.randint(0, 3))] for _ in range(2))
    ops = "".join(f"h = {op}\n" for op in (*before, makers[seed % len(makers)], *after))
    return f"{START}{ops}loss = (h * k).sum()\n"


def sent_by_each(program: str) -> dict[str, list[tuple[Any, Any]]]:
    """What every node of the pass sent and received, by the name of its class."""
    import torch

    variables: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(program, variables)
    found: dict[str, list[tuple[Any, Any]]] = {}
    stack, seen = [variables["loss"].grad_fn], set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        stack += [after for after, _ in node.next_functions]
        if node.next_functions:
            at = found.setdefault(node.name(), [])
            node.register_hook(lambda sent, met, at=at: at.append((sent, met)))
    variables["loss"].backward()
    return found


def is_named(program: str, culprits: set[str], watched: bool) -> str:
    """Empty if the first cause, or one beside it, blames one of them; else what explain says."""
    answer = run(f"{program}loss.backward()\n", "torch", watched=True) if watched else stepped(program, "torch")
    return "" if f"{blamed(answer)[0]}Backward" in {c[: c.index("Backward") + 8] for c in culprits} else f"{answer}"


def makers(program: str, was: Callable[[Any], bool], became: Callable[[Any], bool]) -> set[str]:
    """The nodes that were handed gradients of which all was so, and sent one that became otherwise."""
    sent = ((name, out, met) for name, calls in sent_by_each(program).items() for out, met in calls)
    return {name for name, out, met in sent if was(met) and any(g is not None and became(g) for g in out)}


def is_finite(met: Any) -> bool:
    return all(g is None or bool(g.isfinite().all()) for g in met)


def is_something(met: Any) -> bool:
    return any(g is not None and bool(g.any()) for g in met)


@pytest.mark.parametrize("watched", [False, True], ids=["stepped", "watched"])
@pytest.mark.parametrize("seed", range(len(ZERO)))
def test_what_made_a_zero_is_named(seed: int, watched: bool) -> None:
    pytest.importorskip("torch")
    program = written(ZERO, seed + len(ZERO) * watched)
    found = makers(program, is_something, lambda g: bool(g.numel()) and not g.any())
    assert found and not is_named(program, found, watched)


@pytest.mark.parametrize("watched", [False, True], ids=["stepped", "watched"])
@pytest.mark.parametrize("seed", range(len(BAD)))
def test_what_made_nan_or_inf_is_named(seed: int, watched: bool) -> None:
    pytest.importorskip("torch")
    program = written(BAD, seed + len(BAD) * watched)
    found = makers(program, is_finite, lambda g: not g.isfinite().all())
    assert found and not is_named(program, found, watched)
