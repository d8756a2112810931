"""What the user has done to `grad` behind the picture's back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Drift:
    """Knows each tensor's grad as the picture shows it at the cursor: as the last of the done steps left it.

    Args:
        tensors: the live tensor of each id.
        cell: makes the cell of a tensor's grad.
    """

    def __init__(self, tensors: Mapping[str, Any], cell: Callable[[Any], Any]) -> None:
        self._ids = {t: id for id, t in tensors.items()}
        self._shown = {t: [cell(t)] for t in self._ids}

    def done(self, cells: Iterable[Any]) -> None:
        """A step has left these grads so."""
        for cell in cells:
            if cell.tensor in self._shown:
                self._shown[cell.tensor].append(cell)

    def undone(self, cells: Iterable[Any]) -> None:
        """That step is taken back: the picture shows what was there before."""
        for cell in cells:
            if cell.tensor in self._shown:
                self._shown[cell.tensor].pop()

    def found(self) -> dict[str, Any]:
        """The tensors whose grad has other values now, by id."""
        return {self._ids[t]: t for t, cells in self._shown.items() if not cells[-1].shows()}
