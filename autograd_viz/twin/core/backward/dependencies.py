"""The plan of a backward pass: its nodes, their dependencies, and the nodes that lead to an input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .node import Node


def input_buffers_of(starts: list[Node]) -> dict[Node, list[Any]]:
    """For each node: its dependencies, and an input buffer with one place per output of its op.

    The dependencies are the number of gradients it waits for. Each edge to it adds one, and so does a start of the pass there.
    """
    input_buffers: dict[Node, list[Any]] = {}
    reached: list[Node] = []
    for node in starts:
        if node not in input_buffers:
            input_buffers[node] = [0, *(None,) * len(node._others or ()), None]
            reached.append(node)
        input_buffers[node][0] += 1
    for node in reached:  # the list grows during the loop
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
    """The nodes of `reached` from which a target is reachable. A target is included only if it leads to another target."""
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
