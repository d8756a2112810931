"""A block of steps on the device of a model: 64 rows of numbers, read by the host at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .run_numbers import stacked

BLOCK = 64  # steps


class Table:
    """Numbers of the last steps in columns, and which of them were measured.

    Args:
        columns: how many.
        device: where they are.
    """

    def __init__(self, columns: int, device: Any) -> None:
        self._device = device
        self._values = torch.zeros(BLOCK, columns, device=device)
        self._cells = [list(row.unbind()) for row in self._values] if columns else [[] for _ in range(BLOCK)]
        self._host = self._values.numpy() if self._values.device.type == "cpu" else None  # the same memory
        self._seen = np.zeros((BLOCK, columns), bool)
        self._slices = dict[tuple[int, int, int], Any]()  # to make one is dear in a step of a small model

    def put(self, k: int, columns: Sequence[int], values: Any) -> None:
        """Numbers of step k into these columns, which are sorted."""
        first, last = columns[0], columns[-1] + 1
        if last - first == len(columns):
            self._slice(k, first, last).copy_(values, non_blocking=True)
            self._seen[k, first:last] = True
        else:
            self._values[k, torch.as_tensor(columns, device=self._values.device)] = values.to(self._values.device)
            self._seen[k, columns] = True

    def put_scalars(self, k: int, columns: Sequence[int], scalars: Sequence[Any]) -> Any:
        """Scalars of step k into these columns, which are sorted; gives them as one tensor, or on the host as one array."""
        first, last = columns[0], columns[-1] + 1
        if last - first == len(columns) and self._host is not None:
            self._seen[k, first:last] = True
            self._host[k, first:last] = [s.item() for s in scalars]
            return self._host[k, first:last]
        if last - first == len(columns) and all(s.device == self._device for s in scalars):
            self._seen[k, first:last] = True
            return torch.stack(list(scalars), out=self._slice(k, first, last))
        values = stacked(scalars)
        self.put(k, columns, values)
        return values

    def cell(self, k: int, column: int) -> Any:
        """A number to write into, which counts as measured from now on."""
        self._seen[k, column] = True
        return self._cells[k][column]

    def now(self, k: int, columns: Sequence[int]) -> Any:
        """The numbers of step k in these columns, on the device."""
        first, last = columns[0], columns[-1] + 1
        return self._slice(k, first, last) if last - first == len(columns) else self._values[k, list(columns)]

    def _slice(self, k: int, first: int, last: int) -> Any:
        if (k, first, last) not in self._slices:
            self._slices[k, first, last] = self._values[k, first:last]
        return self._slices[k, first, last]

    def is_seen(self, k: int, column: int) -> bool:
        """Was this number measured?"""
        return bool(self._seen[k, column])

    def read(self, steps: int) -> tuple[Any, Any]:
        """The first steps of the block as NumPy arrays: values, and whether they were measured."""
        return self._values[:steps].cpu().numpy().copy(), self._seen[:steps].copy()

    def start(self, current: int) -> None:
        """A new block, which begins with what is known of the current step."""
        kept = self._seen[current % BLOCK].copy() & (current < BLOCK)
        if kept.any():
            self._values[0].copy_(self._values[current])
        self._seen[:] = False
        self._seen[0] = kept
