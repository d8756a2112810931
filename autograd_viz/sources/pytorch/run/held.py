"""The parameters of a run that an optimizer holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...shared.run.rows import Rows
from .numbers import is_plain


@dataclass
class Held:
    """The parameters of a run that an optimizer holds.

    Attributes:
        total: number of all parameters that the optimizer had when it was looked at.
        parameters: those of the run.
        columns: their columns.
        are_plain: they are dense and float32, and no gradient was found to be sparse.
    """

    total: int
    parameters: Sequence[Any]
    columns: Sequence[int]
    are_plain: bool


def held_by(optimizer: Any, rows: Rows) -> Held:
    """What an optimizer holds of a run."""
    everything = [p for group in optimizer.param_groups for p in group["params"]]
    places = sorted(rows.of_parameter[p] for p in everything if p in rows.of_parameter)
    parameters = [rows.parameters[i] for i in places]
    are_plain = all(is_plain(p) and p.dtype is torch.float32 for p in parameters)
    return Held(len(everything), parameters, places, are_plain)
