"""The part of the engine around one node, at one moment. With it a step can run again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....graph.trace import Step
from ....twin.core.tensor.random import default_generator
from .pass_kind import Snapshot

SHORT = 64  # a shorter queue is copied whole


class EngineSnapshot:
    """The input buffers of a node and its receivers, the queue, and the callbacks for the end.

    A step writes to few places of a long queue, and only these are kept. These are the path down the heap from the first node,
    and the paths up from new receivers.
    """

    __slots__ = ("arrived", "callbacks", "length", "node", "places", "queue", "task", "was_looked_at")

    def __init__(self, task: Any, node: Any, arrived: Sequence[Any]) -> None:
        self.task, self.node, self.arrived = task, node, arrived
        edges = node.next_functions
        self.queue, self.length = _kept(task.ready, len(edges)), len(task.ready)
        self.places: list[tuple[list[Any], int, Any]] = []
        for after, index in edges:
            buffers = task.input_buffers.get(after)
            if buffers is not None:
                self.places += ((buffers, 0, buffers[0]), (buffers, index + 1, buffers[index + 1]))
        own = task.input_buffers[node]
        self.places += [(own, place, old) for place, old in enumerate(own)]
        self.was_looked_at = node in task.looked_at
        self.callbacks = len(task.callbacks)

    def gradient(self, index: int) -> Any:
        """The gradient that is about to enter an output of the node."""
        own = self.task.input_buffers[self.node]
        return self.places[len(self.places) - len(own) + index + 1][2]

    def restore(self) -> None:
        """Restore the engine. Allowed only right after the step, or before it."""
        heap = self.task.ready
        del heap[self.length :]
        heap += [None] * (self.length - len(heap))  # at most one, the last; it is among those kept
        for place, node in self.queue:
            heap[place] = node
        for input_buffers, place, old in self.places:
            input_buffers[place] = old
        for snapshot in self.arrived:
            if not snapshot.holds():
                snapshot.restore()
        if not self.was_looked_at:
            self.task.looked_at.discard(self.node)
        del self.task.callbacks[self.callbacks :]


def _kept(heap: Any, added: int) -> list[tuple[int, Any]]:
    """The places of a heap, with their items, that change when the first item leaves and `added` are pushed."""
    size = len(heap)
    if size <= SHORT:
        return list(enumerate(heap))
    # the places that move up when the first is taken out, and the last is put at the end of the path: always the larger child,
    # the right one if equal
    written, hole = {size - 1}, 0
    while hole < size - 1:
        written.add(hole)
        left, right = 2 * hole + 1, 2 * hole + 2
        hole = left if right >= size - 1 or heap[right]._sequence < heap[left]._sequence else right
    for end in range(size - 1, size - 1 + added):
        place = end
        while place > 0 and place not in written:
            written.add(place)
            place = (place - 1) // 2
    return [(place, heap[place]) for place in written if place < size]


@dataclass(slots=True)
class Around:
    """What a call of a node may change, as it was before: the engine, hooks, saved tensors, the grads of `touched`."""

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


class WholeEngine:
    """Input buffers, queue and callbacks of a pass."""

    def __init__(self, task: Any) -> None:
        self._task = task
        self._buffers = {node: list(buffers) for node, buffers in task.input_buffers.items()}
        self._ready, self._looked_at, self._callbacks = list(task.ready), set(task.looked_at), list(task.callbacks)

    def restore(self) -> None:
        """Restore them."""
        task = self._task
        for node, buffers in self._buffers.items():
            task.input_buffers[node][:] = buffers
        task.ready[:], task.callbacks[:] = self._ready, self._callbacks
        task.looked_at.clear()
        task.looked_at.update(self._looked_at)


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Afterwards the generators of Python, NumPy and the core have their former state."""
    states = random.getstate(), np.random.get_state(), default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        default_generator.set_state(states[2])
