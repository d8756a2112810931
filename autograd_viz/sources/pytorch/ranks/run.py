"""What the ranks of a job tell rank 0 of a run. It goes through the store of the process group: nobody waits for anybody.

# Note [Which runs are the same]
Ranks may watch different models, and in another order: the stages of a pipeline, a second model on rank 0 alone. So a run is
known by what is watched: the names, classes and shapes. If a rank watches several that are alike, they are numbered.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import torch

from ...shared.run.table import Rows
from ..stepping.exchange import is_distributed, store_of_job
from .gathering import place

_runs: Counter[str] = Counter()  # by what is watched, and of all
CLOSED = b"closed"
KEPT = 8  # messages that wait for rank 0 to watch the same


def known_by(model: torch.nn.Module, name: str, rows: Rows) -> str:
    """By what all ranks know that they watch the same."""
    shapes = [tuple(p.shape) for p in rows.parameters]
    if any(type(m).__name__ == "FullyShardedDataParallel" for m in model.modules()):
        shapes = []  # each rank has other parts of the parameters
    return repr((name, [row[:3] for row in rows.named], shapes))


class Channel:
    """Messages of one run: see Note [Which runs are the same]."""

    def __init__(self, what: str, said: str) -> None:
        self.rank, self.world = place()  # the number of this rank, and how many there are
        mark = hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        self._key, self._said = f"autograd_viz/run/{mark}/{_runs[mark]}", said
        self._place = f"autograd_viz/watched/{self.rank}/{_runs['all']}"
        _runs.update([mark, "all"])
        self._sent, self._waiting = 0, deque[bytes](maxlen=KEPT)
        self._read, self._seen = [0] * self.world, [0] * self.world
        self.same, self.others = set[int](), dict[int, str]()  # ranks that watch the same; by rank, what others watch
        self._over = set[str]()  # where runs stand that had ended before
        self._is_over = False
        self._is_lost = False  # rank 0 or its store is gone
        self._apart(self._announce)

    def _announce(self) -> None:
        store = store_of_job()
        store.set(self._place, f"{self._key}\n{self._said}\n")
        store.set(f"{self._key}/{self.rank}", "")
        for rank in range(self.world if self.rank == 0 else 0):
            place, number = f"autograd_viz/watched/{rank}", 0
            while store.check([key := f"{place}/{number}"]):
                if store.get(key).endswith(CLOSED):
                    self._over.add(key)
                number += 1

    def end(self) -> None:
        """The run ends: rank 0 may still come to it. Runs that begin later do not count it."""
        self._is_over = True
        self._apart(self._send)
        self._apart(lambda: store_of_job().set(self._place, f"{self._key}\n{self._said}\n{CLOSED.decode()}"))

    def send(self, message: bytes) -> None:
        """Tell rank 0, if it watches the same; else keep the newest messages until it does."""
        self._waiting.append(message)
        self._apart(self._send)

    def _send(self) -> None:
        store = store_of_job()
        while self._waiting and (self._is_over or store.check([f"{self._key}/0"])):
            store.set(f"{self._key}/{self.rank}/{self._sent}", self._waiting.popleft())
            self._sent += 1

    def _apart(self, act: Any) -> Any:
        """What an act gives; None where there is no job any more."""
        if self._is_lost or not is_distributed():
            return None
        try:
            return act()
        except RuntimeError:
            self._is_lost = True
            return None

    def heard(self) -> Iterator[bytes]:
        """What the other ranks have told since the last time; they are not waited for."""
        for rank in range(1, self.world):
            self._apart(lambda rank=rank: self._look(rank))
            while (message := self._apart(lambda rank=rank: self._next(rank))) is not None:
                yield message

    def _look(self, rank: int) -> None:
        while store_of_job().check([key := f"autograd_viz/watched/{rank}/{self._seen[rank]}"]):
            self._seen[rank] += 1
            mark, said, _ = store_of_job().get(key).decode().split("\n")
            if key in self._over:
                continue
            if mark == self._key:
                self.same.add(rank)
                self.others.pop(rank, None)
            elif rank not in self.same:
                self.others[rank] = said

    def _next(self, rank: int) -> bytes | None:
        store, key = store_of_job(), f"{self._key}/{rank}/{self._read[rank]}"
        if not store.check([key]):
            return None
        message: bytes = store.get(key)
        store.delete_key(key)
        self._read[rank] += 1
        return message
