"""A plan of checkpoints, held against PyTorch's allocator and its counter of operations."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import autograd_viz as av  # noqa: E402

from ..torch_models import GPT  # noqa: E402
from .test_torch_memory import NEAR, allocations  # noqa: E402

pytestmark = pytest.mark.torch


def gpt() -> tuple[nn.Module, Callable[[Any], Any]]:
    net, ids = GPT(12, width=32, heads=4, words=101), torch.randint(0, 101, (8, 16))
    return net, lambda net: net(ids)


def block(a: int, b: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU()
    )  # fmt: skip


def cnn() -> tuple[nn.Module, Callable[[Any], Any]]:
    stem = (block(3, 16), block(16, 16), nn.MaxPool2d(2), block(16, 32), block(32, 32), nn.MaxPool2d(2), block(32, 64))
    net, x = nn.Sequential(*stem, nn.Flatten(), nn.Linear(64 * 64, 10)), torch.randn(16, 3, 32, 32)
    return net, lambda net: net(x).square().mean()


def mlp() -> tuple[nn.Module, Callable[[Any], Any]]:
    layers = (nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64), nn.Tanh()) for _ in range(8))
    net, x = nn.Sequential(*layers), torch.randn(256, 64)
    return net, lambda net: net(x).square().mean()


def peak_of(net: nn.Module, loss_of: Callable[[Any], Any]) -> int:
    """The most that PyTorch's allocator gave during a forward and a backward pass."""
    _, changes = allocations(lambda: loss_of(net).backward())
    net.zero_grad()
    return max(itertools.accumulate(changes))


def operations(net: nn.Module, loss_of: Callable[[Any], Any]) -> int:
    with FlopCounterMode(display=False) as counter:
        loss_of(net).backward()
    net.zero_grad()
    return counter.get_total_flops()


@pytest.mark.parametrize("architecture", [gpt, cnn, mlp])  # 2 s for GPT: seven passes of twelve layers, three in the profiler
def test_a_plan_has_the_peak_and_the_price_that_it_says(architecture: Any) -> None:
    torch.manual_seed(0)
    model, loss_of = architecture()
    plain = copy.deepcopy(model)
    with av.record(model):
        loss = loss_of(model)
    before = av.memory(loss)
    stays = before.total - before.peak
    peak_of(plain, loss_of)  # what is made once
    assert before.peak == pytest.approx(peak_of(plain, loss_of), rel=NEAR)
    for share in (0.7, 0.1):
        memory = av.memory(loss, budget=int(stays + share * before.peak))
        assert memory.plan is not None and memory.plan.fits == (share > 0.5) and memory.plan.paths
        made = {"model": copy.deepcopy(plain)}
        exec(memory.code, made)
        assert peak_of(made["model"], loss_of) == pytest.approx(memory.plan.peak - stays, rel=NEAR)
        more = operations(made["model"], loss_of) - operations(plain, loss_of)
        assert more == pytest.approx(memory.plan.work, rel=NEAR)


def test_operations_are_those_of_pytorchs_counter() -> None:
    nets = {
        "strided": (nn.Conv2d(3, 6, 3, stride=2, groups=3), (2, 3, 9, 9)),
        "transposed": (nn.ConvTranspose2d(4, 4, 3, stride=2), (2, 4, 5, 5)),
        "batched": (nn.Linear(5, 7, bias=False), (2, 3, 5)),
        "attention": (nn.MultiheadAttention(8, 2, batch_first=True), (2, 6, 8)),
    }
    for name, (net, shape) in nets.items():
        inputs = [torch.randn(shape)] * (3 if name == "attention" else 1)
        with FlopCounterMode(display=False) as counter, av.record(net):
            result = net(*inputs)
        loss = (result[0] if name == "attention" else result).sum()
        plan = av.memory(loss, budget="1 GB").plan
        assert plan is not None and counter.get_total_flops() <= plan.forward <= 1.2 * counter.get_total_flops(), name


@pytest.mark.parametrize(
    ("kind", "options", "copies"),
    [("AdamW", {}, 2), ("SGD", {"momentum": 0.9}, 1), ("SGD", {}, 0), ("RMSprop", {"centered": True}, 2), ("Adagrad", {}, 1),
     ("NAdam", {}, 2), ("Adamax", {}, 2), ("Adadelta", {}, 2), ("ASGD", {}, 1), ("RAdam", {}, 2), ("Rprop", {}, 2)],
)  # fmt: skip
def test_the_state_of_an_optimizer_is_foreseen(kind: str, options: dict[str, Any], copies: int) -> None:
    model, x = nn.Linear(64, 8), torch.ones(2, 64)
    opt = getattr(torch.optim, kind)(model.parameters(), **options)
    size = sum(p.nbytes for p in model.parameters())
    loss = model(x).sum()
    assert av.memory(loss).report.stays["optimizer"] == copies * size
    loss.backward()
    opt.step()
    assert av.memory(model(x).sum()).report.stays["optimizer"] == copies * size
