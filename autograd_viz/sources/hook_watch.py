"""Which of the user's hooks ran in a step, with what they were given and what they made of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core import hooks
from ..core.tensor import Tensor
from ..graph.model import Value
from ..graph.trace import HookRun
from .from_core import value_of


@contextmanager
def hooks_watched() -> Iterator[list[HookRun]]:
    """Inside, every hook that returns is added to the list."""
    runs: list[HookRun] = []

    def saw(kind: str, hook: Any, index: int, before: Any, after: Any) -> None:
        name = getattr(hook, "__name__", type(hook).__name__)
        runs.append(HookRun(kind, name, _value(before), _value(after), index))

    outer, hooks.observer = hooks.observer, saw
    try:
        yield runs
    finally:
        hooks.observer = outer


def _value(grad: Any) -> Value | None:
    return value_of(grad) if isinstance(grad, Tensor) else None
