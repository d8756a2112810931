"""Training loops that are watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    """A small net with batch norm and dropout: its pass depends on buffers, mode and random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.5))
        self.head = nn.Linear(8, 1)

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return self.head(self.body(x)) * scale


def made(kind: Callable[[], nn.Module] = Net, rate: float = 0.05) -> tuple[nn.Module, Any]:
    """A model that is always the same, and its optimizer."""
    torch.manual_seed(0)
    model = kind()
    return model, torch.optim.Adam(model.parameters(), lr=rate)


def train(model: nn.Module, optimizer: Any, steps: int, before_step: Callable[[int], object] = lambda k: None) -> list[float]:
    """The losses of some steps."""
    losses = []
    for k in range(steps):
        x = torch.randn(16, 4)
        loss = ((model(x, scale=1.5) - x.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        before_step(k)
        optimizer.step()
        losses.append(loss.item())
    return losses
