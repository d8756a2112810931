"""What a step has changed, and what it may change: kept so that the step can be taken back and done again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....graph.trace import Step
from .engine_snapshot import EngineSnapshot
from .pass_kind import Snapshot


@dataclass(slots=True)
class Around:
    """What a call of a node may change, as it was before: the engine, hooks, saved tensors, the grads of `touched`.

    Attributes:
        is_seen: the user's code may see the gradients.
    """

    node: Any
    touched: list[Any]
    attached: Any
    engine: EngineSnapshot
    saved: Snapshot
    grads: list[Any]
    is_seen: bool

    @property
    def tensors(self) -> list[Snapshot]:
        """Saved tensors and grads."""
        return [self.saved, *self.grads]

    def restore(self) -> None:
        """Restore it."""
        for snapshot in self.tensors:
            snapshot.restore()
        self.engine.restore()


@dataclass(slots=True)
class Done:
    """What a step has changed: its state before, saved tensors and grads after, and the names of what it freed."""

    before: Around
    after: list[Snapshot]
    grads: list[Any]  # those of `after`
    freed: tuple[str, ...]
    step: Step
