"""A loss that gets targets of another shape, or probabilities in place of logits; each beside a healthy twin."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .explained import kinds, told

NET = "torch.manual_seed(0)\nnet = torch.nn.Linear(4, 3)\nx, rows = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])\n"
ONE = "torch.manual_seed(0)\nnet = torch.nn.Linear(4, 1)\nx, y = torch.randn(6, 4), torch.randn(6)\n"
BACKWARD = "\nloss.backward()"
SICK = {
    "mse_loss": (ONE + "loss = F.mse_loss(net(x), y)", "every_pair"),
    "l1_loss": (ONE + "loss = F.l1_loss(net(x).sigmoid(), y)", "every_pair"),
    "a difference": (ONE + "loss = (y - net(x)).pow(2).mean()", "every_pair"),
    "gathered": (NET + "loss = F.smooth_l1_loss(net(x).gather(1, rows.unsqueeze(1)), torch.randn(6))", "every_pair"),
    "probabilities": (NET + "loss = F.cross_entropy(net(x).softmax(1), rows)", "softmax_twice"),
}
HEALTHY = {
    "one shape": ONE + "loss = F.mse_loss(net(x), y.unsqueeze(1))",
    "one row": ONE + "loss = F.mse_loss(net(x[:1]), y[:1])",
    "every pair is meant": ONE + "loss = (net(x).squeeze(1)[:, None] - y).pow(2).mean()",
    "other lengths": ONE + "loss = (net(x) - y[:4]).pow(2).mean()",
    "logits": NET + "loss = F.cross_entropy(net(x), rows)",
    "log of probabilities": NET + "loss = F.cross_entropy(net(x).log_softmax(1), rows)",
    "attention": NET + "loss = F.cross_entropy(net(x).softmax(1) @ torch.randn(3, 3), rows)",
}


def _libraries() -> list[Any]:
    return ["core", *(pytest.param(w, marks=pytest.mark.torch) for w in ("torch", "watched"))]


def _kinds(program: str, library: str) -> list[str]:
    names = {} if library == "core" else {"torch": pytest.importorskip("torch")}
    return kinds(told(program + BACKWARD, "net.weight", watched=library == "watched", **names))


@pytest.mark.parametrize("library", _libraries())
@pytest.mark.parametrize(("program", "kind"), SICK.values(), ids=SICK)
def test_what_a_loss_is_not_made_for_is_told(program: str, kind: str, library: str) -> None:
    assert _kinds(program, library) == [kind]


@pytest.mark.parametrize("library", _libraries())
@pytest.mark.parametrize("program", HEALTHY.values(), ids=HEALTHY)
def test_a_healthy_loss_stands_out_in_nothing(program: str, library: str) -> None:
    assert _kinds(program, library)[0].startswith("fine")


def test_the_shapes_are_told() -> None:
    said = str(told(ONE + "loss = F.mse_loss(net(x), y)" + BACKWARD, "net.weight", torch=av))
    assert "shape (6, 1)" in said and "shape (6, 6)" in said and "unsqueeze(1)" in said
