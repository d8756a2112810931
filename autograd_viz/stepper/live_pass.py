"""What a stepper needs from a backward pass of the core or of PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from ..graph.model import Value
from ..graph.trace import Engine, Rewritten, Step


class LivePass(Protocol):
    """What a stepper needs from a backward pass of the core or of PyTorch. A body that says more is that of a recording."""

    is_recorded: bool  # the pass itself is recorded (create_graph)
    frees: bool  # a step frees saved tensors; else it only says what ``backward()`` would free

    @property
    def own_ranks(self) -> int:
        """Over how many ranks the gradients should be averaged, and are not; 0 if none."""

    @property
    def calls_user_code(self) -> bool:
        """Has it hooks, or a Function's backward?"""

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""

    def advance(self) -> Step | None:
        """Run one node for real; if it raises, everything is as before. The step writes its numbers when they are read."""

    def undo(self, index: int) -> None:
        """Undo what a step did to the user's tensors."""

    def redo(self, index: int) -> bool:
        """Do it again. Returns False and does nothing if its inputs have changed since."""

    def rewind(self, index: int) -> None:
        """Put the engine back to before step `index`; the steps from there on are dropped."""

    def edit(self, value: Any, index: int, step: int) -> None:
        """Replace the gradient that will enter output `index` of a step's node; drop the steps from there on. Or refuse it."""

    def aside(self, step: int) -> AbstractContextManager[None]:
        """Inside, the pass stands before a step; it may be edited and run on. Afterwards everything is as before."""

    def grads(self) -> dict[str, Value | None]:
        """The grads of the leaves of the pass now, by id."""
        return {}

    def undo_edit(self) -> bool:
        """Undo the edit; False if there was none."""
        return False

    def edits(self) -> dict[int, Value]:
        """The user's edits that no node has run with yet: output of the next node -> gradient."""
        return {}

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grads that were changed outside the stepper."""
        return {}

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors whose data was changed in place after they were drawn."""
        return {}

    def spoiled(self) -> dict[str, str]:
        """Saved tensors ("n0.saved.self") of nodes still to run that were modified ("stale") or "freed" by others."""
        return {}

    def untouched(self) -> AbstractContextManager[None]:
        """Steps that run and are taken back inside change nothing else, whatever user code they call."""
        return nullcontext()

    def engine(self) -> Engine:
        """Ready queue, waiting nodes and memory now."""

    def id_of(self, thing: Any) -> str | None:
        """The id of a live tensor or node of the graph, else None."""
        return None
