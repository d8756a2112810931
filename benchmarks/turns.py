"""CPU time of several programs that take turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

Run = Callable[[], Any]
ROUNDS = 31
SAMPLE = 0.01  # seconds of CPU time: short runs are repeated within a round


def cpu_seconds(run: Run, times: int) -> float:
    """CPU time of one of `times` runs in a row: other programs of the machine have no part in it."""
    gc.collect(1)  # everybody clears away what he himself leaves
    start = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - start) / times


class Turns:
    """Programs that are measured in rounds. In a round each has its turn, every other time backwards."""

    def __init__(self, runs: dict[str, Run]) -> None:
        self.runs, self.times, self.count = runs, {}, 0
        for name, run in runs.items():
            cpu_seconds(run, 3)  # warm
            self.times[name] = max(1, round(SAMPLE / cpu_seconds(run, 1)))

    def take(self) -> dict[str, float]:
        """The CPU seconds of each in one round."""
        self.count += 1
        order = list(self.runs) if self.count % 2 else list(reversed(self.runs))
        return {name: cpu_seconds(self.runs[name], self.times[name]) for name in order}
