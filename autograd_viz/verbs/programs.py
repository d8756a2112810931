"""What the command asks of a whole program: the runs of all models that it trains, and its last backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .. import words
from ..sources.last_run import LastRun, last_run
from ..sources.optimizers import each_model
from ..sources.shared.names import modules_among, users_names
from .run import Run, run_of
from .watch import KEEP, bytes_of

__all__ = ["LastRun", "Named", "each_run", "last_run"]


class Named(NamedTuple):
    """A run, and what its model is called and is."""

    run: Run
    name: str
    kind: str


@contextmanager
def each_run(stop: bool) -> Iterator[list[Named]]:
    """Inside, every model that an optimizer has is watched from its first pass on; gives the runs. `stop`: as for `watch`."""
    runs = list[Named]()

    def begins(model: Any) -> Any:
        name = next((name for name, module in modules_among(users_names()) if module is model), "model")
        try:
            run = run_of(model, {name: model}, bytes_of(KEEP), stop, "auto")
        except Exception:  # no parameter requires grad: the program goes on
            return None
        run._loop.advice = words.RUN_GO_ON_COMMAND
        runs.append(Named(run, name, type(model).__name__))
        return run._watch

    try:
        with each_model(begins):
            yield runs
    finally:
        for named in runs:
            with suppress(Exception):  # so that the others are closed, and what was measured is written
                named.run.close()
