"""The engine around one node, as it was at one moment: so that a step can be run anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class EngineSnapshot:
    """What lay ready for a node and its receivers, the queue, and callbacks for the end.

    Args:
        task: the pass.
        node: the node that is about to run.
        arrived: its gradients as snapshots, where code of the user's may change them in place.
    """

    def __init__(self, task: Any, node: Any, arrived: Sequence[Any]) -> None:
        self.task, self.node, self.arrived = task, node, arrived
        self.length = len(task.ready)
        self.queue = dict(enumerate(task.ready))
        edges = [(task.input_buffers[after], index + 1) for after, index in node.next_functions if after in task.input_buffers]
        self.places = [(input_buffers, place, input_buffers[place]) for input_buffers, at in edges for place in (0, at)]
        self.places += [(task.input_buffers[node], place, old) for place, old in enumerate(task.input_buffers[node])]
        self.was_looked_at = node in task.looked_at
        self.callbacks = len(task.callbacks)

    def settle(self) -> None:
        """The step has run: of the queue only what it has changed is worth keeping."""
        now = self.task.ready
        self.queue = {i: n for i, n in self.queue.items() if i >= len(now) or now[i] is not n}

    def restore(self) -> None:
        """Make it so again; after `settle` only from the state in which the step has left the engine."""
        heap = self.task.ready
        heap[:] = [self.queue.get(i) or heap[i] for i in range(self.length)]
        for input_buffers, place, old in self.places:
            input_buffers[place] = old
        for snapshot in self.arrived:
            if not snapshot.holds():
                snapshot.restore()
        if not self.was_looked_at:
            self.task.looked_at.discard(self.node)
        del self.task.callbacks[self.callbacks :]
