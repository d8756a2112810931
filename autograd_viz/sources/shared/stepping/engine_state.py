"""The engine at one moment, as the document shows it: ready nodes, waiting nodes, and the memory of saved tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from ....graph.model import Document, Saved
from ....graph.trace import Engine, Waiting

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

    def now(self) -> Engine:
        """The engine as it is."""
        return self.moment()()

    def moment(self) -> Callable[[], Engine]:
        """A function that gives the engine as it is now. A short queue is copied; of a long one the first nodes are found."""
        ready = self._task.ready
        short = type(ready)(ready) if len(ready) <= SHORT else None
        first = () if short is not None else ready.first(MOST)
        nodes, counts = tuple(islice(self._waiting, MOST)), tuple(islice(self._waiting.values(), MOST))
        return partial(self._written, short, first, nodes, counts, self.memory.bytes)

    def _written(self, short: Any, first: Sequence[Any], nodes: Sequence[Any], counts: Sequence[int], held: int) -> Engine:
        queue = tuple([self._ids[n] for n in (first if short is None else short.first(MOST))])
        items = sorted(zip(nodes, counts, strict=True), key=lambda item: self._rank[item[0]])
        return Engine(queue, tuple([Waiting(self._ids[n], arrived, self._expected[n]) for n, arrived in items]), held)


def _first(*ids: str) -> str:
    """The first of several ids, by number: t2 comes before t10. It stands for all that share memory."""
    return min(ids, key=lambda t: (len(t), t))


class _SavedMemory:
    """Memory of saved tensors. A tensor that several nodes have saved counts once, until the last of them frees it."""

    def __init__(self, document: Document) -> None:
        self._memory = {t.id: _first(t.id, *t.shares) for t in document.tensors if t.shares}  # one id for each shared memory
        self._saved: dict[tuple[str, str], Saved] = {(n.id, s.name): s for n in document.nodes for s in n.saved}
        self._users: dict[str, int] = {}
        self.bytes = 0
        for (node, name), s in self._saved.items():
            if s.state == "kept":
                self.take(node, (name,))

    def take(self, node: str, names: Iterable[str]) -> None:
        """The node has these saved tensors, or has them again."""
        for name in names:
            key, size = self._place(node, name)
            self._users[key] = self._users.get(key, 0) + 1
            self.bytes += size if self._users[key] == 1 else 0

    def let_go(self, node: str, names: Iterable[str]) -> int:
        """The bytes that a node freed with these saved tensors."""
        before = self.bytes
        for name in names:
            key, size = self._place(node, name)
            self._users[key] = self._users.get(key, 0) - 1
            self.bytes -= size if self._users[key] == 0 else 0
        return before - self.bytes

    def _place(self, node: str, name: str) -> tuple[str, int]:
        s = self._saved.get((node, name))
        if s is None or s.tensor is None:
            return f"{node}.{name}", 0 if s is None else s.bytes
        return self._memory.get(s.tensor, s.tensor), s.bytes
