"""A backward pass of the core, run one node at a time and written down as steps of the document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..core.accumulate_grad import AccumulateGrad
from ..core.backward import start
from ..core.node import Node
from ..core.tensor import Tensor
from ..graph.model import Value
from ..graph.trace import Engine, Step
from .cells import Attached, Cell, EngineCell, GradCell, SavedCell
from .drift import Drift
from .engine_state import EngineState
from .from_core import CoreGraph, value_of
from .gradient import as_gradient
from .hook_watch import hooks_watched
from .written import Seen, StepWriter


@dataclass
class _Done:
    """What a step has changed: cells as they were before and after it, the engine and hooks before it, what it freed."""

    node: Node
    before: list[Cell]
    after: list[Cell]
    grads: list[GradCell]  # those of `after`
    around: EngineCell
    attached: Attached
    freed: tuple[str, ...]


class CorePass:
    """A backward pass from one root that has not run yet.

    Args:
        graph: the graph of `root`.
        gradient: the first gradient; None for a single element.
        retain_graph, create_graph: as in `backward`.

    Raises:
        RuntimeError: as `backward` would, in PyTorch's words.
    """

    def __init__(
        self, graph: CoreGraph, root: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool
    ) -> None:
        self.graph, self.root = graph, root
        self.task = start(root, gradient, retain_graph, create_graph)
        self._done: list[_Done] = []
        self._writer = StepWriter(graph, root, self.task.keep_graph)
        self._edits: dict[int, dict[int, Any]] = {}  # by step: what had arrived before the user changed it
        self._state = EngineState(self.task, graph.node_ids, graph.document)
        self._drift = Drift(graph.tensors)

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""
        node = self.task.peek()
        return None if node is None else self.graph.node_ids[node]

    @property
    def total(self) -> int:
        """How many steps the whole pass has: every node runs once."""
        return len(self.task.inbox)

    def engine(self) -> Engine:
        """The engine as it is at the frontier."""
        return self._state.now()

    # -- stepping -----------------------------------------------------------------------------------------------------

    def advance(self) -> Step | None:
        """Run one node for real; None at the end.

        Raises:
            Exception: whatever the node raises; everything is as it was before the call.
        """
        node = self.task.peek()
        if node is None:
            return None
        touched = [node.variable] if isinstance(node, AccumulateGrad) else self._retained(node)
        seen = Seen(node, touched)
        attached, around = Attached(node), EngineCell(self.task, node)
        before: list[Cell] = [SavedCell(node), *(GradCell(t) for t in touched)]
        try:
            written = self._called(seen)
        except BaseException:
            for cell in (*before, around):
                cell.restore()
            raise
        around.settle()
        self._state.look((node, *node._next))
        grads = [GradCell(t) for t in touched]
        freed = tuple(c.at.rpartition(".")[2] for c in written.changes if ".saved." in c.at and c.after is None)
        bytes_freed = self._state.freed(written.node, freed)
        self._done.append(_Done(node, before, [SavedCell(node), *grads], grads, around, attached, freed))
        self._drift.done(grads)
        return replace(written, freed=bytes_freed, engine=self._state.now())

    def _called(self, seen: Seen) -> Step:
        """Call the next node, and at the end of the pass what was to be called then."""
        with hooks_watched(self.task) as seen.hooks:
            step = self.task.step()
            if not self.task.ready and self.task.callbacks:
                self.task.end()
        assert step is not None
        return self._writer.written(step, seen, tuple(self._edits.get(len(self._done), ())))

    def undo(self, index: int) -> None:
        """Take back what step `index` did to `grad` and to saved tensors.

        What the user has replaced, changed or freed since stays as it is: taking a step back must not destroy what somebody
        else did, and `drift` tells where the picture is another.
        """
        done = self._done[index]
        for cell, left in zip(done.before, done.after, strict=True):
            if left.holds():
                cell.restore()
        self._drift.undone(done.grads)

    def redo(self, index: int) -> bool:
        """Do again what step `index` did, without calling anything; False, and nothing done, if it would come out otherwise:
        a grad or a saved tensor that it started from has changed since, or a hook came or went.
        """
        done = self._done[index]
        if not (done.attached.holds() and all(cell.holds() for cell in done.before)):
            return False
        for cell in done.after:
            cell.restore()
        self._drift.done(done.grads)
        return True

    def rewind(self, index: int) -> None:
        """The engine goes back to before step `index`, so that the steps from there on can run anew.

        An edit of the gradient that enters step `index` is kept, later ones are gone.
        """
        if len(self._done) > index:
            self.undo_edit()
        while len(self._done) > index:
            done = self._done.pop()
            done.around.restore()
            self._state.look((done.node, *done.node._next))
            self._state.taken_back(self.graph.node_ids[done.node], done.freed)
            self._writer.take_back(done.node)
            if len(self._done) > index:
                self.undo_edit()

    def edit(self, value: Any, index: int) -> None:
        """Replace the gradient that is about to enter output `index` of the next node.

        Raises:
            ValueError: there is no such node or output, or the shape does not fit.
        """
        node = self.task.peek()
        if node is None:
            raise ValueError("the backward pass is complete: there is no gradient to edit")
        outputs = node._outputs_metadata()
        if not 0 <= index < len(outputs):
            raise ValueError(f"{node.name()} has {len(outputs)} outputs; there is no output {index}")
        gradient = as_gradient(value, *outputs[index], as_tensor=self.task.create_graph)
        edits = self._edits.setdefault(len(self._done), {})
        edits.setdefault(index, self.task.inbox[node][index + 1])
        self.task.inbox[node][index + 1] = gradient

    def undo_edit(self) -> bool:
        """Give the next node what had arrived; False if nothing had been edited."""
        edits = self._edits.pop(len(self._done), None)
        node = self.task.peek()
        if not edits or node is None:
            return False
        for index, gradient in edits.items():
            self.task.inbox[node][index + 1] = gradient
        return True

    def drift(self) -> dict[str, Value | None]:
        """The grad rows that the user has changed behind the picture's back: address -> what is there now."""
        found = self._drift.found()
        return {f"{id}.grad": None if t._grad is None else value_of(t._grad) for id, t in found.items()}

    def id_of(self, thing: Any) -> str | None:
        """The id of a tensor or node of the graph, else None."""
        if isinstance(thing, Node):
            return self.graph.node_ids.get(thing)
        return self.graph.tensor_id(thing) if isinstance(thing, Tensor) else None

    def _retained(self, node: Node) -> list[Tensor]:
        return [t for reference in (node._extra.retains if node._extra else {}).values() if (t := reference()) is not None]
