"""The same batch, measured every so often: what changes is the training, not the data."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from ..runtime.pytorch import pytorch
from ..sources import anything
from ..twin import manual_seed, no_grad

PROBE_EVERY = 50  # steps


def probe_loss(probe: Any, model: Any) -> float:
    """The loss of a probe, on a copy of the model; random numbers are the same each time, and as before afterwards.

    Raises:
        TypeError: the probe gives no loss.
    """
    torch = pytorch()
    copied = copy.deepcopy(model)
    with anything.random_numbers_kept(), no_grad(), nullcontext() if torch is None else torch.no_grad():
        manual_seed(0)
        if torch is not None:
            torch.manual_seed(0)
        result = probe(copied) if callable(probe) else _called(copied, probe)
    return _loss_of(result)


def _called(model: Any, batch: Any) -> Any:
    if isinstance(batch, Mapping):
        return model(**batch)
    return model(*batch) if isinstance(batch, tuple | list) else model(batch)


def _loss_of(result: Any) -> float:
    """The number in a scalar, or in what a model gives that has a loss."""
    loss: Any = result.get("loss") if isinstance(result, Mapping) else getattr(result, "loss", result)
    if isinstance(loss, int | float):
        return float(loss)
    if callable(getattr(loss, "numel", None)) and loss.numel() == 1:
        return float(loss.item())
    shape = getattr(loss, "shape", None)
    came = type(result).__name__ if shape is None else f"shape {tuple(shape)}"
    raise TypeError(
        f"probe= needs a loss, and the model gives {came}: give it a function of the model, "
        "probe=lambda model: loss_fn(model(x), y)"
    )
