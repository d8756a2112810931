"""What the ranks of a job tell rank 0 of a run. It goes through the store of the process group: nobody waits for anybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .gathering import place
from .ranks import is_distributed, store_of_job

_runs: Counter[str] = Counter()


class Channel:
    """Messages of one run. The k-th run of each rank is the same one.

    Attributes:
        rank, world: the number of this rank, and how many there are.
    """

    def __init__(self) -> None:
        self.rank, self.world = place()
        self._key = f"autograd_viz/run/{_runs['run']}"
        _runs["run"] += 1
        self._sent = 0
        self._is_lost = False  # the store cannot be reached; PyTorch prints each try
        self._read = [0] * self.world

    def send(self, message: bytes) -> None:
        """Tell rank 0, if it can be reached."""
        if not is_distributed() or self._is_lost:
            return
        try:
            store_of_job().set(f"{self._key}/{self.rank}/{self._sent}", message)
        except RuntimeError:
            self._is_lost = True
        self._sent += 1

    def heard(self) -> Iterator[bytes]:
        """What the other ranks have told since the last time; they are not waited for."""
        if not is_distributed() or self._is_lost:
            return
        store = store_of_job()
        try:
            for rank in range(1, self.world):
                while store.check([key := f"{self._key}/{rank}/{self._read[rank]}"]):
                    yield store.get(key)
                    store.delete_key(key)
                    self._read[rank] += 1
        except RuntimeError:
            self._is_lost = True
