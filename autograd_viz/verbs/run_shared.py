"""A run on many ranks: each rank has its own numbers, rank 0 those of all."""

from __future__ import annotations

import time
from typing import Any

from ..pictures.runs.history import History
from ..pictures.runs.ranks import Ranks, Teller, unpacked

PATIENCE = 1.0  # seconds that rank 0 waits at the end for what others still tell


class Shared:
    """Takes the numbers of a rank, and tells rank 0.

    Args:
        history: of this rank; on rank 0 its `ranks` gets what all told.
        channel: to rank 0 (`sources.pytorch.run_ranks`).
    """

    def __init__(self, history: History, channel: Any) -> None:
        self._history, self._channel = history, channel
        self._teller = Teller(channel.rank, len(history.rows))
        if not channel.rank:
            history.ranks = Ranks(channel.world)

    def add(self, values: Any, seen: Any) -> None:
        """More steps."""
        self._history.add(values, seen)
        self._tell(self._teller.add(values, seen))

    def mark(self, step: int, kind: str, text: str = "") -> None:
        """Something happened at a step of this rank."""
        self._history.mark(step, kind, text)

    def _tell(self, windows: Any) -> None:
        for told in windows:
            if self._channel.rank:
                self._channel.send(told.packed())
            elif self._history.ranks is not None:
                self._history.ranks.add(told)
                self.listen()

    def listen(self) -> None:
        """On rank 0: what the others have told."""
        if self._history.ranks is not None:
            for message in self._channel.heard():
                self._history.ranks.add(unpacked(message))
            self._history.ranks.others = self._channel.others

    def end(self) -> None:
        """The run ends. Rank 0 waits a moment for the others."""
        self._tell(self._teller.rest())
        ranks, deadline = self._history.ranks, time.monotonic() + PATIENCE
        self._channel.end()
        self.listen()
        while ranks is not None and time.monotonic() < deadline and self._is_behind(ranks):
            time.sleep(0.02)
            self.listen()
        if ranks is not None:
            ranks.end()

    def _is_behind(self, ranks: Ranks) -> bool:
        """Has a rank that watches the same still to tell something?"""
        return any(ranks.steps[rank] < ranks.steps[0] for rank in range(ranks.world) if rank not in ranks.others)
