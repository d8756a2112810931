"""The engine at one moment: as the document shows it, and as it is put back, so that a step can run again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ....graph.model import Document, Saved
from ....graph.trace import Engine, Step, Waiting
from ....twin.core.backward.ready_queue import first
from ....twin.core.tensor.random import default_generator
from .library import Snapshot

MOST = 100  # ready or waiting nodes that are listed
SHORT = 256  # nodes of a queue that is copied at each step


class EngineState:
    """Follows one pass; `memory` is that of its saved tensors."""

    def __init__(self, task: Any, ids: Mapping[Any, str], document: Document) -> None:
        self._task, self._ids = task, ids
        self._rank = {node: i for i, node in enumerate(ids)}  # an order for waiting nodes, the same after a rewind
        self._expected = {node: input_buffers[0] + (node in task.starts) for node, input_buffers in task.input_buffers.items()}
        self._waiting: dict[Any, int] = {}
        self.memory = _SavedMemory(document)
        self.look(task.input_buffers)

    def look(self, nodes: Iterable[Any]) -> None:
        """Note that gradients may have arrived at these nodes."""
        for node in nodes:
            if node is not None and node in self._expected:
                left = self._task.input_buffers[node][0]
                if 0 < left < self._expected[node]:
                    self._waiting[node] = self._expected[node] - left
                else:
                    self._waiting.pop(node, None)

    def moment(self) -> Callable[[], Engine]:
        """A function that gives the engine as it is now. A short queue is copied; of a long one the first nodes are found."""
        ready = self._task.ready
        is_short = len(ready) <= SHORT
        queue = ready[:] if is_short else first(ready, MOST)
        nodes, counts = tuple(islice(self._waiting, MOST)), tuple(islice(self._waiting.values(), MOST))
        return partial(self._written, queue, is_short, nodes, counts, self.memory.bytes)

    def _written(self, queue: list[Any], is_heap: bool, nodes: Sequence[Any], counts: Sequence[int], held: int) -> Engine:
        queued = tuple([self._ids[n] for n in (first(queue, MOST) if is_heap else queue)])
        items = sorted(zip(nodes, counts, strict=True), key=lambda item: self._rank[item[0]])
        return Engine(queued, tuple([Waiting(self._ids[n], arrived, self._expected[n]) for n, arrived in items]), held)


class _SavedMemory:
    """Memory of saved tensors. A tensor that several nodes have saved counts once, until the last of them frees it."""

    def __init__(self, document: Document) -> None:
        # the first of the ids that share memory stands for all: t2 comes before t10
        self._memory = {t.id: min(t.id, *t.shares, key=lambda t: (len(t), t)) for t in document.tensors if t.shares}
        self._saved: dict[tuple[str, str], Saved] = {(n.id, s.name): s for n in document.nodes for s in n.saved}
        self._users = Counter[str]()
        self.bytes = 0
        for (node, name), s in self._saved.items():
            if s.state == "kept":
                self.take(node, (name,))

    def take(self, node: str, names: Iterable[str]) -> None:
        """The node has these saved tensors, or has them again."""
        for key, size in self._places(node, names):
            self._users[key] += 1
            self.bytes += size if self._users[key] == 1 else 0

    def let_go(self, node: str, names: Iterable[str]) -> int:
        """The bytes that a node freed with these saved tensors."""
        before = self.bytes
        for key, size in self._places(node, names):
            self._users[key] -= 1
            self.bytes -= size if self._users[key] == 0 else 0
        return before - self.bytes

    def _places(self, node: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
        for name in names:
            if (s := self._saved.get((node, name))) is None:
                yield f"{node}.{name}", 0
            else:
                yield f"{node}.{name}" if s.tensor is None else self._memory.get(s.tensor, s.tensor), s.bytes


WHOLE = 64  # nodes of a queue that a snapshot has whole


class EngineSnapshot:
    """The input buffers of a node and its receivers, the callbacks for the end, and of the queue what a step writes to: the
    path down the heap from the first node, and the paths up from new receivers.
    """

    __slots__ = ("arrived", "callbacks", "length", "node", "places", "queue", "task", "was_looked_at")

    def __init__(self, task: Any, node: Any, edges: Sequence[tuple[Any, int]], arrived: Sequence[Any]) -> None:
        self.task, self.node, self.arrived = task, node, arrived
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
    if size <= WHOLE:
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


def whole_engine(task: Any) -> Callable[[], None]:
    """A function that restores input buffers, queue and callbacks of a pass as they are now."""
    kept = [(buffers, list(buffers)) for buffers in (*task.input_buffers.values(), task.ready, task.callbacks)]
    looked_at = set(task.looked_at)

    def restore() -> None:
        for live, then in kept:
            live[:] = then
        task.looked_at.clear()
        task.looked_at.update(looked_at)

    return restore


@contextmanager
def keep_random_numbers() -> Iterator[None]:
    """Afterwards the generators of Python, NumPy and the core have their former state."""
    states = random.getstate(), np.random.get_state(), default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        default_generator.set_state(states[2])
