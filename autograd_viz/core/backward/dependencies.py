"""Before a backward pass: which nodes it reaches, for how many gradients each waits, and which lead to what is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .node import Node


def input_buffers_of(starts: list[Node]) -> dict[Node, list[Any]]:
    """For each node: how many gradients it waits for (one per edge that leads to it, one if the pass starts there), and a
    place for what arrives at each of its op's outputs.
    """
    input_buffers: dict[Node, list[Any]] = {}
    reached: list[Node] = []
    for node in starts:
        if node not in input_buffers:
            input_buffers[node] = [0, *(None,) * len(node._others or ()), None]
            reached.append(node)
        input_buffers[node][0] += 1
    for node in reached:  # which grows meanwhile
        for after in node._next:
            if after is None:
                continue
            if after in input_buffers:
                input_buffers[after][0] += 1
                continue
            input_buffers[after] = [1, None] if after._others is None else [1, *(None,) * len(after._others), None]
            if after._next:
                reached.append(after)
    return input_buffers


def leading_to(targets: Iterable[Node], reached: Iterable[Node]) -> set[Node]:
    """Those of the nodes `reached` from which a target can be, targets themselves only if they lead to another target."""
    senders: dict[Node, list[Node]] = {}
    for node in reached:
        for after in node._next:
            if after is None:
                continue
            if after in senders:
                senders[after].append(node)
            else:
                senders[after] = [node]
    found: set[Node] = set()
    stack = [s for t in targets for s in senders.get(t, ())]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += senders.get(node, ())
    return found
