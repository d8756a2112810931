"""The whole engine at one moment: with it a pass can run on aside, and be afterwards as it was."""

from __future__ import annotations

from typing import Any


class WholeEngine:
    """Input buffers, queue and callbacks of a pass.

    Args:
        task: the pass.
    """

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
