"""What the user has done to `grad` behind the picture's back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core.tensor import Tensor
from .cells import GradCell


class Drift:
    """Remembers each tensor's grad as the stepper left it.

    Args:
        tensors: the live tensor of each id.
    """

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._ids = {t: id for id, t in tensors.items()}
        self._known = {t: GradCell(t) for t in self._ids}

    def note(self, tensors: Iterable[Tensor]) -> None:
        """The stepper has just set the grad of these."""
        for t in tensors:
            self._known[t] = GradCell(t)

    def found(self) -> dict[str, Tensor]:
        """The tensors whose grad is another now, by id."""
        return {self._ids[t]: t for t, cell in self._known.items() if t in self._ids and not cell.holds()}
