"""Ops that change in place what they save: autograd copies that first, and the recorder still knows whose node is whose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autograd_viz as av  # noqa: E402

from ..torch_steppers import ops_of  # noqa: E402

pytestmark = pytest.mark.torch
F = nn.functional
OPS: dict[str, Callable[[Any], Any]] = {
    "Clamp": lambda h: h.clamp_(max=0.5), "ClampMin": lambda h: h.clamp_min_(0.5), "Pow": lambda h: h.pow_(2),
    "Log": lambda h: h.log_(), "Sin": lambda h: h.sin_(), "Abs": lambda h: h.abs_(), "NanToNum": lambda h: h.nan_to_num_(),
    "Mul": lambda h: h.mul_(h), "Div": lambda h: h.div_(h.sum()), "Hardswish": lambda h: F.hardswish(h, inplace=True),
    "Silu": lambda h: F.silu(h, inplace=True), "Mish": lambda h: F.mish(h, inplace=True), "Relu": lambda h: h.relu_(),
    "Exp": lambda h: h.exp_(), "Add": lambda h: h.add_(1),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_an_op_in_place_is_seen_with_its_line(name: str) -> None:
    x = torch.tensor([0.25, 0.75], requires_grad=True)
    with av.record() as rec:
        h = x * 1
        OPS[name](h)
        loss = h.sum()
    found = {op.name: op for op in ops_of(loss)}
    assert not rec.problems and not any(op.reconstructed for op in found.values())
    assert name in found and found[name].source is not None
    assert "Clone" not in found  # the copy is autograd's own


@pytest.mark.parametrize("act", [nn.Hardswish, nn.SiLU, nn.ReLU6, nn.Hardtanh, nn.Mish])
def test_an_activation_in_place_knows_its_module(act: Any) -> None:
    model = nn.Sequential(nn.Linear(2, 2), act(inplace=True), nn.Linear(2, 1))
    with av.record(model):
        loss = model(torch.ones(1, 2)).sum()
    assert [op.module for op in ops_of(loss)] == ["0", "0", "1", "2", "2", ""]


def test_a_copy_of_the_users_own_stays_an_op() -> None:
    x = torch.ones(2, requires_grad=True)
    with av.record():
        h = x * 2
        kept = h.clone()
        h.add_(1)
        loss = (h * kept).sum()
    assert [op.name for op in ops_of(loss)] == ["Mul", "Clone", "Add", "Mul", "Sum"]
