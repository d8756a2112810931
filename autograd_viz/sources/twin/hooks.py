"""Which hooks of the user's ran in a step, with their inputs and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...graph.model import Value
from ...graph.trace import HookRun
from ...twin.core.backward import hooks
from ...twin.core.backward.engine import GraphTask
from ...twin.core.tensor.tensor import Tensor
from ..shared.own_hooks import is_own_hook
from ..shared.values import value_of


class HookWatch:
    """Records the hooks that return (see `core.hooks.Observer`), except those of a nested pass.

    Args:
        task: the pass.

    Attributes:
        runs: the calls so far, in order.
    """

    def __init__(self, task: GraphTask) -> None:
        self.task = task
        self.runs: list[HookRun] = []

    def seen(self, grad: Any) -> Value | None:
        """A gradient before a hook."""
        return value_of(grad) if isinstance(grad, Tensor) else None

    def ran(self, kind: str, hook: Any, index: int, seen: Value | None, after: Any) -> None:
        """One gradient went through a hook."""
        self._add(kind, hook, index, seen, self.seen(after))

    def ran_for_all(self, kind: str, hook: Any, seen: Sequence[Value | None], after: Sequence[Any]) -> None:
        """A hook got several gradients: record each that it changed, or else only the first."""
        pairs = list(enumerate(zip(seen, map(self.seen, after), strict=True)))
        changed = [(i, pair) for i, pair in pairs if repr(pair[0]) != repr(pair[1])]  # nan equals nan
        there = [(i, pair) for i, pair in pairs if pair[0] is not None]
        for i, (b, a) in changed or there[:1] or pairs[:1]:
            self._add(kind, hook, i, b, a)

    def _add(self, kind: str, hook: Any, index: int, before: Value | None, after: Value | None) -> None:
        if GraphTask.current is not self.task or is_own_hook(hook):
            return
        name = getattr(hook, "__name__", type(hook).__name__)
        self.runs.append(HookRun(kind, name, before, after, index))


@contextmanager
def hooks_watched(task: GraphTask) -> Iterator[list[HookRun]]:
    """Inside, every hook of the pass is added to the list when it returns."""
    watch = HookWatch(task)
    outer, hooks.observer = hooks.observer, watch
    try:
        yield watch.runs
    finally:
        hooks.observer = outer
