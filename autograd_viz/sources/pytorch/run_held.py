"""The parameters of a run that an optimizer holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..run_rows import Rows


class Held(NamedTuple):
    """The parameters of a run that an optimizer holds.

    Attributes:
        total: number of all parameters that the optimizer had when it was looked at.
        parameters: those of the run.
        columns: their columns.
    """

    total: int
    parameters: Sequence[Any]
    columns: Sequence[int]


def held_by(optimizer: Any, rows: Rows) -> Held:
    """What an optimizer holds of a run."""
    everything = [p for group in optimizer.param_groups for p in group["params"]]
    places = sorted(rows.of_parameter[p] for p in everything if p in rows.of_parameter)
    return Held(len(everything), [rows.parameters[i] for i in places], places)
