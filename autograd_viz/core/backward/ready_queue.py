"""The engine's ready queue: which of the nodes that could run now runs next.

# Note [Ready queue order]
The node created last goes first (highest sequence_nr); AccumulateGrad, whose number is the largest of all, runs as soon
as it is ready. Nodes with equal numbers leave PyTorch's queue in the order in which a binary heap of the C++ standard
library gives them back, which is not first in, first out: four leaves of one node accumulate in the order 0, 2, 1, 3.
The sift steps below are that heap's, so the order is PyTorch's for ties too.
"""

from __future__ import annotations

from .node import Node


class ReadyQueue(list["Node"]):
    """A max-heap of nodes by sequence_nr; the first is the next to run."""

    __slots__ = ()

    def first(self, most: int) -> list[Node]:
        """The nodes in the order in which they would run if nothing else became ready, `most` at most."""
        copy = type(self)(self)
        return [copy.take() for _ in range(min(most, len(copy)))]

    def push(self, node: Node) -> None:
        """Add a node."""
        hole = len(self)
        self.append(node)
        if hole and self[(hole - 1) // 2]._sequence < node._sequence:
            self._sift_up(hole, node)

    def take(self) -> Node:
        """Take out the node with the highest number."""
        last = self.pop()
        size = len(self)
        if not size:
            return last
        top = self[0]
        if size == 1:  # as it mostly is, what remains needs no sifting
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
