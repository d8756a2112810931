"""The other ranks of a distributed job, for a pass that would exchange gradients with them.

# Note [Ranks]
A step that communicates waits until every rank has come to it. One rank alone would wait for ever, or be paired with another's
`backward()`. So the ranks meet first, in the store that made the process group: the store pairs with no collective. If a rank
is missing, an error names it, and nothing has run.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

PATIENCE = 30.0  # seconds to wait for a missing rank
SILENCE = 3.0  # seconds before a waiting rank says so
PAUSE = 0.02  # seconds between two checks

_met: Counter[tuple[int, ...]] = Counter()  # by ranks: how often they have met


def is_distributed() -> bool:
    """Is this process a rank of a job?"""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def meet(ranks: Sequence[int], what: str, advice: str, patience: float | None = None) -> None:
    """Wait until all of these ranks of the job have come here, at most `patience` (or `PATIENCE`) seconds.

    `what` is about to run: "DistributedDataParallel averages gradients". `advice`: what else can be done.

    Raises:
        RuntimeError: some have not come in time; nothing has been sent.
    """
    group, patience = tuple(ranks), PATIENCE if patience is None else patience
    store, key = store_of_job(), f"autograd_viz/{'-'.join(map(str, group))}/{_met[group]}"
    store.set(f"{key}/{torch.distributed.get_rank()}", "")
    here, begin, is_told = store.add(key, 1), time.monotonic(), False
    if here == len(group):
        store.set(f"{key}/all", "")
    while not store.check([f"{key}/all"]):
        waited = time.monotonic() - begin
        if waited > patience and store.add(key, -1) < len(group) - 1:  # else the last one came at this moment
            missing = [str(r) for r in group if not store.check([f"{key}/{r}"])]
            absent = f"{len(missing)} of them did not come to this step in {patience:.0f} s: rank {', '.join(missing)}"
            said = absent if missing else f"the others had come before, and have left after {patience:.0f} s"
            raise RuntimeError(f"{what} over {len(group)} ranks, and {said}. Make the same call on every rank{advice}.")
        if waited > SILENCE and not is_told:
            is_told = True
            _tell(f"{what} over {len(group)} ranks: waiting for the others (Ctrl-C stops)")
        time.sleep(PAUSE)
        here = store.add(key, 0)
    _met[group] += 1


def store_of_job() -> Any:
    """The store that made the process group."""
    from torch.distributed.distributed_c10d import _get_default_store

    return _get_default_store()


@contextmanager
def slow_notice(what: str) -> Iterator[None]:
    """Inside, this rank may wait for another; if that takes long, it says so."""
    timer = threading.Timer(SILENCE, _tell, [f"{what}: waiting for the other ranks"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(text: str) -> None:
    print(f"autograd_viz, rank {torch.distributed.get_rank()}: {text}", file=sys.stderr, flush=True)
