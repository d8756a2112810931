"""A program run plainly and watched, and the loops whose memory is looked at."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import autograd_viz as av

from ..torch_hooked import SAID

Case = Callable[[], Any]


def bits(x: Any) -> Any:  # noqa: PLR0911
    """Everything that can be told of a result."""
    if isinstance(x, list | tuple):
        return [bits(v) for v in x]
    if isinstance(x, dict):
        return {k: bits(v) for k, v in x.items()}
    if not isinstance(x, torch.Tensor):
        return x if isinstance(x, int | float | str | bytes | type(None)) else type(x).__name__
    if x.is_nested:
        return [bits(part) for part in x.unbind()]
    if x.layout is not torch.strided:
        return (str(x.layout), bits(x.detach().to_dense()))
    looks = (type(x).__name__, str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad, x.is_leaf)
    if x.is_meta:
        return looks
    flat = x.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return (*looks, flat.view(torch.uint8).tolist())


def outcome(run: Callable[[], Any], keep: int | None) -> Any:
    """What a program gives, says, raises and warns of, and where it leaves the random numbers; `keep`: under av.watch()."""
    SAID.clear()
    torch.manual_seed(0)
    watching = None if keep is None else av.watch(keep)
    result: Any = None
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = run()
            except BaseException as error:
                result = (type(error).__name__, str(error))
    finally:
        if watching is not None:
            watching.close()
            assert watching.faults == (), watching.faults
    once = "torch.jit"  # PyTorch's own, of its first call
    said = [(w.category.__name__, str(w.message).partition("\n  File")[0]) for w in warned if once not in str(w.message)]
    return bits(result), bits(list(SAID)), said, torch.get_rng_state().tolist()


def assert_harmless(run: Callable[[], Any], *keeps: int) -> None:
    """Plain, and watched with so much kept."""
    plain = outcome(run, None)
    for keep in keeps:
        assert outcome(run, keep) == plain


def error_of(run: Callable[[], Any]) -> Any:
    """What it returns, or the error that it raises."""
    try:
        return run()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def noisy() -> Any:
    """A network that draws random numbers."""
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 1))


# -- loops --------------------------------------------------------------------------------------------------------------

LOOPS: dict[str, Callable[[int], Any]] = {}


def loop(run: Callable[[int], Any]) -> Callable[[int], Any]:
    LOOPS[run.__name__] = run
    return run


def passes(step: Callable[[Any, Any, int], Any]) -> Callable[[int], Any]:
    """A loop of such passes, that keeps what they return."""

    def run(n: int) -> list[Any]:
        net, x = mlp(), torch.ones(4, 8)
        return [held for k in range(n) if (held := step(net, x, k)) is not None]

    LOOPS[step.__name__] = run
    return run


def mlp() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))


@loop
def training(n: int) -> Any:
    net, x = mlp(), torch.ones(4, 8)
    descent = torch.optim.Adam(net.parameters())
    for _ in range(n):
        descent.zero_grad()
        net(x).square().mean().backward()
        descent.step()
    return list(net.parameters())


@passes
def losses_in_a_list(net: Any, x: Any, k: int) -> Any:
    loss = net(x).square().mean()
    loss.backward()
    return loss


@passes
def losses_added_up(net: Any, x: Any, k: int) -> Any:
    loss = net(x).square().mean()
    loss.backward()
    return loss.item()


@passes
def some_outputs_in_a_list(net: Any, x: Any, k: int) -> Any:
    y = net(x).exp()
    y.mean().backward()
    return y if k % 7 == 0 else None


@passes
def packed_tensors_in_a_list(net: Any, x: Any, k: int) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = net(x).exp()
    y.mean().backward()
    return y


@passes
def slices_in_a_list(net: Any, x: Any, k: int) -> Any:
    y = net(x) * 1
    y[:2].mul_(torch.ones(2, 1).exp())
    y.mean().backward()
    return y


@passes
def errors_in_passes(net: Any, x: Any, k: int) -> Any:
    y = net(x).exp()
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="inplace"):
        y.mean().backward()


@loop
def gan(n: int) -> Any:
    made, judge, z = mlp(), nn.Linear(1, 1), torch.ones(4, 8)
    for _ in range(n):
        fake = made(z)
        (judge(fake.detach()).exp().mean() - judge(torch.ones(5, 1)).mean()).backward()
        judge(fake).exp().mean().backward()
    return list(made.parameters())


@loop
def carried_state(n: int) -> Any:
    cell, h = nn.RNNCell(8, 8), torch.zeros(1, 8)
    for _ in range(n):
        h = cell(torch.ones(1, 8), h.detach())
        h.square().sum().backward()
    return h


@loop
def inference_with_grad_on(n: int) -> Any:
    net, seen, h = mlp(), [], torch.zeros(4, 8)
    for k in range(n):
        h = net[0](h.detach() + 1)
        y = net(torch.ones(4, 8, requires_grad=True) * h)
        if k % 100 == 0:
            seen.append(y.mean().item())
    return seen


@loop
def evaluation(n: int) -> Any:
    net, best = mlp(), torch.zeros(())
    with torch.no_grad():
        for _ in range(n):
            y = net(torch.ones(4, 8))
            best = torch.maximum(best, (y > 0).float().mean())
    return best


@loop
def attacks(n: int) -> Any:
    net, x = mlp(), torch.ones(4, 8)
    for _ in range(n):
        x = x.detach().requires_grad_()
        (g,) = torch.autograd.grad(net(x).square().mean(), x)
        x = x + g.sign()
    return x
