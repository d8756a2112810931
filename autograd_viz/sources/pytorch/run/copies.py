"""Copies of the parameters of a run, taken in every step.

# Note [Few ops]
On a CPU, an op for each small parameter costs more than its bytes. So parameters that differ only in their first size lie
in one tensor, and one `torch.cat` copies them. A GPU copies all parameters in one kernel anyway.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch

from .numbers import is_plain, is_spread, own


class Copies:
    """Copies of parameters, of shards that of this rank."""

    def __init__(self, live: Sequence[Any]) -> None:
        self._live = list(live)
        self._make()

    def _make(self) -> None:
        self._kept_as = self._live[0].device, self._live[0].dtype
        alike = dict[Hashable, list[int]]()
        for place, p in enumerate(self._live):
            alike.setdefault(_kind(p), []).append(place)
        alone = alike.pop(None, [])
        copies = {place: own(self._live[place]).clone() for place in alone}
        self._alone = [self._live[place] for place in alone], list(copies.values())
        self._is_spread = any(map(is_spread, self._alone[0]))
        self._together = list[tuple[list[Any], Any]]()
        for places in alike.values():
            parameters = [self._live[place] for place in places]
            whole = torch.cat([p.detach() for p in parameters])
            self._together.append((parameters, whole))
            copies.update(zip(places, whole.split([len(p) for p in parameters]), strict=True))
        self.tensors = [copies[place] for place in range(len(copies))]

    def take(self) -> None:
        """Copy the parameters as they are now; under `no_grad`."""
        if self._kept_as != (self._live[0].device, self._live[0].dtype):  # the model has moved
            self._make()
            return
        for parameters, whole in self._together:
            torch.cat(parameters, out=whole)
        alone, copies = self._alone
        if alone:
            torch._foreach_copy_(copies, [own(p) for p in alone] if self._is_spread else alone)

    def differ(self) -> bool:
        """Has a parameter moved since? One that was nan has not."""
        return any(bool(((own(p) != was) & ~was.isnan()).any()) for p, was in zip(self._live, self.tensors, strict=True))


def _kind(p: Any) -> Hashable:
    """What parameters have in common that are copied together; None if it is copied alone."""
    is_alike = is_plain(p) and p.device.type == "cpu" and p.dim() and p.is_contiguous()
    return (p.dtype, p.shape[1:]) if is_alike else None
