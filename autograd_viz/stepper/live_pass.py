"""What a stepper needs of a backward pass, whoever runs it: the core, or PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..graph.model import Value
from ..graph.trace import Engine, Rewritten, Step


class LivePass(Protocol):
    """What a stepper needs of a backward pass, whoever runs it.

    Attributes:
        is_recorded: the pass itself is recorded (create_graph).
        frees: a step frees saved tensors; else it only says what ``backward()`` would free.
        own_ranks: over how many ranks the gradients should have been averaged that are this rank's own; 0 if there are none.
    """

    is_recorded: bool
    frees: bool

    @property
    def own_ranks(self) -> int: ...  # noqa: D102 -- as above

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""

    def advance(self) -> Step | None:
        """Run one node for real; if it raises, everything is as it was. The step writes its numbers when they are read."""

    def undo(self, index: int) -> None:
        """Take back what a step did to the user's tensors."""

    def redo(self, index: int) -> bool:
        """Do it again; False, and nothing done, if what it started from has changed since."""

    def rewind(self, index: int) -> None:
        """The engine goes back to before step `index`; the steps from there on are forgotten."""

    def edit(self, value: Any, index: int, step: int) -> None:
        """Replace what is about to enter output `index` of the node of a step, and forget what is recorded from it on; what is
        refused changes nothing.
        """

    def undo_edit(self) -> bool:
        """Take that back; False if there was nothing."""

    def edits(self) -> dict[int, Value]:
        """What the user has put there and no node has run with yet: output of the next node -> gradient."""

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grad rows that the user has changed meanwhile."""

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors whose data somebody has changed in place since they were drawn."""

    def spoiled(self) -> dict[str, str]:
        """Saved tensors ("n0.saved.self") of nodes that are to run which somebody has changed in place ("stale") or "freed"."""

    def untouched(self) -> AbstractContextManager[None]:
        """Steps that are run and taken back inside change nothing else, whatever code of the user's they call."""

    def engine(self) -> Engine:
        """Queue, waiting nodes and memory as they are."""

    def id_of(self, thing: Any) -> str | None:
        """The id of a live tensor or node of the graph, else None."""
