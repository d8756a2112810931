"""Where edges of the backward graph lead: does the graph have a cycle, and what can a pass reach?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .model import Node


def reached_from(nodes: Mapping[str, Node], starts: Iterable[str]) -> set[str]:
    """These nodes, and all nodes that can be reached along next_functions."""
    found = set(starts)
    stack = [*found]
    while stack:
        for after in nodes[stack.pop()].next_functions:
            if after.node is not None and after.node not in found:
                found.add(after.node)
                stack.append(after.node)
    return found


def has_circle(nodes: Mapping[str, Node]) -> bool:
    """Does a path along next_functions come back to its start?"""
    arriving = Counter(f.node for n in nodes.values() for f in n.next_functions if f.node is not None)
    free = [id for id in nodes if not arriving[id]]
    for id in free:  # grows while nodes become free
        for f in nodes[id].next_functions:
            if f.node is not None:
                arriving[f.node] -= 1
                if not arriving[f.node]:
                    free.append(f.node)
    return len(free) < len(nodes)
