"""A backward pass from a file. It is replayed, and nothing is computed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ..errors import AutogradVizError
from ..graph.model import Document
from ..graph.trace import Engine, Step, Trace
from ..pictures.render.escape import printable
from .cursor import LivePass
from .stepper import Stepper

NOT_LIVE = "a recording cannot be edited: it has no live graph to run"


@dataclass(frozen=True)
class Recording:
    """A recorded pass that `load` read from a .json. `show`, `step` and `save` accept it like a tensor."""

    document: Document  # the graph before the pass
    trace: Trace  # the steps that were recorded

    def stepper(self) -> Stepper:
        """A cursor over the recorded steps, at their start."""
        return Stepper(self.document, RecordedPass(self.trace))

    def __repr__(self) -> str:
        names = ", ".join(t.name for t in self.document.tensors if t.name)
        return printable(f"<Recording of {names or 'an unnamed tensor'}: {len(self.trace.steps)} steps>")


def forward_stepper(document: Document) -> Stepper:
    """A cursor over a forward pass that no backward pass follows."""
    return Stepper(document, RecordedPass(Trace(complete=True)), only_forward=True)


class RecordedPass(LivePass):
    """A trace in the form that a stepper needs. No tensor of the user's belongs to it, and nothing can have changed."""

    is_recorded, frees = False, True  # the recorded sentences say both
    own_ranks, calls_user_code = 0, False

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._done = 0

    def next_node(self) -> str | None:
        """The node of the next recorded step; at the end of an unfinished pass, the first node that was ready."""
        steps = self._trace.steps
        if self._done < len(steps):
            return steps[self._done].node
        queue = (steps[-1].engine if steps else self._trace.start).queue
        return queue[0] if queue and not self._trace.complete else None

    def advance(self) -> Step | None:
        """The next recorded step; None at the end. AutogradVizError if the pass went on, but was not recorded further."""
        if self._done < len(self._trace.steps):
            self._done += 1
            return self._trace.steps[self._done - 1]
        if not self._trace.complete:
            raise AutogradVizError(f"the recording ends after {self._done} steps, before the end of the pass")
        return None

    def undo(self, index: int) -> None:
        """Nothing to undo."""

    def rewind(self, index: int) -> None:
        """The steps from `index` on will be asked for again."""
        self._done = index

    def edit(self, value: Any, index: int, step: int) -> None:
        """Refused: no graph can run with another gradient."""
        raise AutogradVizError(NOT_LIVE if self._trace.steps else "there is no gradient to edit: no node runs")

    def aside(self, step: int) -> AbstractContextManager[None]:
        """Refused: no graph can run."""
        raise AutogradVizError(NOT_LIVE)

    def engine(self) -> Engine:
        """The engine before the first step."""
        return self._trace.start
