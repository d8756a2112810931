"""The engine's ready queue: which of the nodes that could run now runs next.

# Note [Ready queue order]
The node created last goes first (highest sequence_nr); AccumulateGrad, whose number is the largest of all, runs as soon
as it is ready. Nodes with equal numbers leave PyTorch's queue in the order in which a binary heap of the C++ standard
library gives them back, which is not first in, first out: four leaves of one node accumulate in the order 0, 2, 1, 3.
The sift steps below are that heap's, so the order is PyTorch's for ties too.
"""

from __future__ import annotations

from .node import Node


class ReadyQueue:
    """A max-heap of nodes by sequence_nr."""

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[Node] = []

    def __len__(self) -> int:
        return len(self._heap)

    def peek(self) -> Node:
        """The node that `pop` would return."""
        return self._heap[0]

    def first(self, most: int) -> list[Node]:
        """The nodes in the order in which they would run if nothing else became ready, `most` at most."""
        copy = type(self)()
        copy._heap = list(self._heap)
        return [copy.pop() for _ in range(min(most, len(copy)))]

    def push(self, node: Node) -> None:
        """Add a node."""
        heap = self._heap
        heap.append(node)
        if len(heap) > 1:
            self._sift_up(len(heap) - 1, node)

    def pop(self) -> Node:
        """Take out the node with the highest number."""
        heap = self._heap
        top, last = heap[0], heap.pop()
        if heap:
            self._sift_up(self._sink_hole(len(heap)), last)
        return top

    def _sift_up(self, hole: int, node: Node) -> None:
        heap, number = self._heap, node._sequence
        while hole > 0 and heap[(hole - 1) // 2]._sequence < number:
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = node

    def _sink_hole(self, size: int) -> int:
        """Move the hole at the top down to a leaf, always towards the larger child (the right one of equals)."""
        heap, hole = self._heap, 0
        while 2 * hole + 2 < size:
            child = 2 * hole + 2
            if heap[child]._sequence < heap[child - 1]._sequence:
                child -= 1
            heap[hole] = heap[child]
            hole = child
        if 2 * hole + 2 == size:
            heap[hole] = heap[size - 1]
            hole = size - 1
        return hole
