"""The defaults of layers, optimizers, schedules and the scaler are PyTorch's."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PLACES = {"nn": av.nn, "optim": av.optim, "optim.lr_scheduler": av.optim.lr_scheduler, "amp": av.amp}
CLASSES = [
    f"{place}.{name}" for place, module in PLACES.items() for name in module.__all__ if isinstance(getattr(module, name), type)
]


def defaults(m: Any, path: str) -> dict[str, Any]:
    """The parameters of a class, with their defaults; a function by its name."""
    found = m
    for part in path.split("."):
        found = getattr(found, part)
    given = {name: p.default for name, p in inspect.signature(found).parameters.items()}
    return {name: d.__name__ if inspect.isroutine(d) else d for name, d in given.items()}


@pytest.mark.parametrize("path", CLASSES)
def test_defaults_are_pytorchs(path: str) -> None:
    ours, theirs = defaults(av, path), defaults(torch, path)
    both = [name for name in ours if name in theirs]
    assert [ours[name] for name in both] == [theirs[name] for name in both]
