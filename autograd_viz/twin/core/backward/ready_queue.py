"""The order of a backward pass: dependencies, the nodes that lead to an input, and the queue that chooses the next node.

# Note [Ready queue order]
The node with the highest sequence_nr, which was created last, goes first. AccumulateGrad has the largest number of all, so it
runs as soon as it is ready.
PyTorch's queue is a binary heap of the C++ standard library, which decides the order of equal numbers. It is not first in,
first out: four leaves of one node accumulate in the order 0, 2, 1, 3. The sift steps below copy that heap, so ties have
PyTorch's order too. A queue is a plain list, because Python reads an item of a subclass of list ten times slower.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .node import Node


def input_buffers_of(starts: list[Node]) -> dict[Node, list[Any]]:
    """For each node: the number of gradients it waits for (one per edge, and per start), and a place per output of its op."""
    input_buffers: dict[Node, list[Any]] = {}
    reached: list[Any] = []  # the receivers of each node
    for node in starts:
        if node not in input_buffers:
            input_buffers[node] = [0, *(None,) * len(node._others or ()), None]
            reached.append(node._next)
        input_buffers[node][0] += 1
    for receivers in reached:  # the list grows during the loop
        for after in receivers:
            if after in input_buffers:
                input_buffers[after][0] += 1
            elif after is not None:
                input_buffers[after] = [1, None] if (more := after._others) is None else [1, *(None,) * len(more), None]
                if more := after._next:
                    reached.append(more)
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


class Ranked:
    """In a queue, a node that is not of this package, with the number that the queue compares."""

    __slots__ = ("_sequence", "node")

    def __init__(self, node: Any, sequence: int) -> None:
        self.node, self._sequence = node, sequence


def first(heap: list[Any], most: int) -> list[Any]:
    """At most `most` nodes, in the order in which they run if no other node becomes ready."""
    copy = heap[:]
    found = [take(copy) for _ in range(min(most, len(copy)))]
    return [n.node if type(n) is Ranked else n for n in found]


def push(heap: list[Any], node: Any) -> None:
    """Add a node."""
    hole = len(heap)
    heap.append(node)
    if hole and heap[(hole - 1) // 2]._sequence < node._sequence:
        _sift_up(heap, hole, node)


def take(heap: list[Any]) -> Any:
    """Remove and return the node with the highest number."""
    last = heap.pop()
    if not (size := len(heap)):
        return last
    top = heap[0]
    if size == 1:  # the usual case: a single node needs no sifting
        heap[0] = last
    else:
        _sift_up(heap, _sink_hole(heap, size), last)
    return top


def _sift_up(heap: list[Any], hole: int, node: Any) -> None:
    number = node._sequence
    while hole > 0 and heap[(hole - 1) // 2]._sequence < number:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = node


def _sink_hole(heap: list[Any], size: int) -> int:
    """Move the hole at the top down to a leaf, always towards the larger child (the right one of equals)."""
    hole = 0
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
