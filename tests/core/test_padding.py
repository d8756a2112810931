"""Padding by any number, also a negative one, beside PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def padded(t: Any, shape: tuple[int, ...], pad: tuple[int, ...], mode: str) -> Any:
    """Shape, values and gradient, or the error's type."""
    x = t.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape).requires_grad_()
    try:
        y = t.nn.functional.pad(x, pad, mode=mode)
    except RuntimeError as error:
        return type(error)
    (y * t.arange(float(y.numel())).reshape(y.shape)).sum().backward()
    return tuple(y.shape), y.tolist(), x.grad.tolist()


def reads_what_it_has_not_written(length: int, before: int, after: int) -> bool:
    """Circular padding in PyTorch then copies memory that nothing has filled."""
    return max(before, after) > length + min(before, 0) + min(after, 0)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("shape", [(2, 3), (1, 2, 4), (1, 1, 3, 2)])
def test_a_padding_may_remove_elements(mode: str, shape: tuple[int, ...]) -> None:
    sides = (-3, -2, -1, 0, 1, 2, 3) if len(shape) == 2 else (-3, -1, 0, 2)
    for pad in itertools.product(sides, repeat=2 * max(1, len(shape) - 2)):
        pairs = zip(reversed(shape), pad[::2], pad[1::2], strict=False)
        if mode != "circular" or not any(reads_what_it_has_not_written(*p) for p in pairs):
            assert padded(av, shape, pad, mode) == padded(torch, shape, pad, mode), pad
