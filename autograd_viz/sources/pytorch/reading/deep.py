"""Makes a graph of many thousands of nodes in a row freeable.

# Note [Deep graphs]
PyTorch frees a graph without recursion, except for nodes that Python has seen (in 2.13). Each of those frees the next from
within, and some 40,000 in a row overflow the C stack. Whoever walks a graph has seen all nodes. So every STRETCH nodes, one
gets a keeper of the nodes after it. When that node dies, they stay until the garbage collector or the next walk frees them.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Collection
from typing import Any

STRETCH = 5_000
KEY = "autograd_viz.keeper"  # in node.metadata
_left: deque[Any] = deque()


class _Keeper:
    """Keeps the nodes after one node alive."""

    __slots__ = ("_after",)

    def __init__(self, after: list[Any]) -> None:
        self._after = after

    def __del__(self) -> None:
        """Its node dies; the kept nodes stay for now."""
        _left.extend(self._after)
        if _free not in gc.callbacks:
            gc.callbacks.append(_free)


def make_freeable(nodes: Collection[Any]) -> None:
    """Give every long row of nodes its keepers.

    Args:
        nodes: of a graph, in the order of the forward pass.
    """
    free_what_is_left()
    if len(nodes) <= STRETCH:
        return
    length: dict[Any, int] = {}
    for node in nodes:
        after = [n for n, _ in node.next_functions if n is not None]
        length[node] = 1 + max((length.get(n, 0) for n in after), default=0)
        if length[node] == STRETCH:
            node.metadata[KEY] = _Keeper(after)
            length[node] = 0


def free_what_is_left() -> None:
    """Free the nodes that keepers have kept; this may leave more."""
    while _left:
        _left.pop()


def _free(phase: str, info: dict[str, int]) -> None:
    if phase == "stop":
        free_what_is_left()
        gc.callbacks.remove(_free)
