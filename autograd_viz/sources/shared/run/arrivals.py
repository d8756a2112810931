"""The gradients that arrive at results of modules, of both libraries."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any


class Arrivals:
    """Hooks on the nodes of results. A view that nobody has asked for its node gets its hook when a pass begins.

    Args:
        node_of: the grad_fn of a tensor; None for a leaf, and for a view that nobody has asked.
        is_leaf: did no op make a tensor?
    """

    def __init__(self, node_of: Callable[[Any], Any], is_leaf: Callable[[Any], bool]) -> None:
        self._node_of, self._is_leaf = node_of, is_leaf
        self._waiting: list[tuple[weakref.ref[Any], Callable[[Any], object]]] = []

    def follow(self, result: Any, put: Callable[[Any], object]) -> bool:
        """Call ``put(node)`` with the node of a result, now or when a pass begins; False for a leaf."""
        node = self._node_of(result)
        if node is not None:
            put(node)
        elif not self._is_leaf(result):
            self._waiting.append((weakref.ref(result), put))
        else:
            return False
        return True

    def pass_begins(self, roots: Iterable[Any]) -> None:
        """A pass begins. It asks its roots itself."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        asked = list(roots)
        for reference, put in waiting:
            result = reference()
            if result is not None:
                if any(result is root for root in asked):
                    _ = result.grad_fn
                self.follow(result, put)
