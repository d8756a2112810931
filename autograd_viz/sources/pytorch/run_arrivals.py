"""The gradients that arrive at results of modules."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..own_hooks import own_hook
from .nodes import grad_fn_of, is_leaf

Hook = Callable[[Sequence[Any]], None]


class Arrivals:
    """Hooks on the nodes of results. A view that nobody has asked for its node gets its hook when a pass begins."""

    def __init__(self) -> None:
        self._waiting: list[tuple[weakref.ref[Any], Hook]] = []

    def follow(self, result: Any, hook: Hook) -> None:
        """Call the hook with the gradients that arrive at the node of a result."""
        node = grad_fn_of(result)
        if node is not None:
            node.register_prehook(own_hook(hook))
        elif not is_leaf(result):
            self._waiting.append((weakref.ref(result), hook))

    def pass_begins(self, roots: Iterable[Any]) -> None:
        """A pass begins. It asks its roots itself."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        asked = list(roots)
        for reference, hook in waiting:
            result = reference()
            if result is None:
                continue
            if any(result is root for root in asked):
                _ = result.grad_fn
            self.follow(result, hook)
