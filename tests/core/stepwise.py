"""A pass of the engine's, one call of a node after the other."""

from __future__ import annotations

from collections.abc import Iterator

from autograd_viz.twin.core.backward.engine import GraphTask, Step


def steps_of(task: GraphTask) -> Iterator[Step]:
    """Every step of a pass; it ends with the last."""
    while task.ready:
        step = task.step()
        if step is not None:
            yield step
    task.end()
