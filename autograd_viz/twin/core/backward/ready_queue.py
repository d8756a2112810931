"""The order of a backward pass: dependencies, the nodes that lead to an input, and the queue that chooses the next node.

# Note [Ready queue order]
The node with the highest sequence_nr, which was created last, goes first. AccumulateGrad has the largest number of all, so it
runs as soon as it is ready.
PyTorch's queue is a binary heap of the C++ standard library, which decides the order of equal numbers. It is not first in,
first out: four leaves of one node accumulate in the order 0, 2, 1, 3. The sift steps below copy that heap, so ties have
PyTorch's order too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .node import Node


def input_buffers_of(starts: list[Node]) -> dict[Node, list[Any]]:
    """For each node: the number of gradients it waits for (one per edge, and per start), and a place per output of its op."""
    input_buffers: dict[Node, list[Any]] = {}
    reached: list[Node] = []
    for node in starts:
        if node not in input_buffers:
            input_buffers[node] = [0, *(None,) * len(node._others or ()), None]
            reached.append(node)
        input_buffers[node][0] += 1
    for node in reached:  # the list grows during the loop
        for after in node._next:
            if after in input_buffers:
                input_buffers[after][0] += 1
            elif after is not None:
                input_buffers[after] = [1, None] if (more := after._others) is None else [1, *(None,) * len(more), None]
                if after._next:
                    reached.append(after)
    return input_buffers


def leading_to(targets: Iterable[Node], reached: Iterable[Node]) -> set[Node]:
    """The nodes of `reached` from which a target is reachable. A target is included only if it leads to another target."""
    senders: dict[Node, list[Node]] = {}
    for node in reached:
        for after in node._next:
            if after in senders:
                senders[after].append(node)
            elif after is not None:
                senders[after] = [node]
    found: set[Node] = set()
    stack = [node for target in targets if target in senders for node in senders[target]]
    for node in stack:  # the list grows during the loop
        if node not in found:
            found.add(node)
            if node in senders:
                stack += senders[node]
    return found


class ReadyQueue(list["Node"]):
    """A max-heap of nodes by sequence_nr. The first node runs next."""

    __slots__ = ()

    def first(self, most: int) -> list[Node]:
        """At most `most` nodes, in the order in which they run if no other node becomes ready."""
        copy = type(self)(self)
        return [copy.take() for _ in range(min(most, len(copy)))]

    def push(self, node: Node) -> None:
        """Add a node."""
        hole = len(self)
        self.append(node)
        if hole and self[(hole - 1) // 2]._sequence < node._sequence:
            self._sift_up(hole, node)

    def take(self) -> Node:
        """Remove and return the node with the highest number."""
        last = self.pop()
        size = len(self)
        if not size:
            return last
        top = self[0]
        if size == 1:  # the usual case: a single node needs no sifting
            self[0] = last
        else:
            self._sift_up(self._sink_hole(size), last)
        return top

    def _sift_up(self, hole: int, node: Node) -> None:
        number = node._sequence
        while hole > 0 and self[(hole - 1) // 2]._sequence < number:
            self[hole] = self[(hole - 1) // 2]
            hole = (hole - 1) // 2
        self[hole] = node

    def _sink_hole(self, size: int) -> int:
        """Move the hole at the top down to a leaf, always towards the larger child (the right one of equals)."""
        hole = 0
        while 2 * hole + 2 < size:
            child = 2 * hole + 2
            if self[child]._sequence < self[child - 1]._sequence:
                child -= 1
            self[hole] = self[child]
            hole = child
        if 2 * hole + 2 == size:
            self[hole] = self[size - 1]
            hole = size - 1
        return hole
