"""Orders in a document: what a backward pass can reach, whether the graph has a cycle, what each op brings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .model import Document, Node


def reached_from(nodes: Mapping[str, Node], starts: Iterable[str]) -> set[str]:
    """These nodes, and all nodes that can be reached along next_functions."""
    found, stack = set[str](), [*starts]
    while stack:
        if (id := stack.pop()) not in found and id in nodes:
            found.add(id)
            stack += [after.node for after in nodes[id].next_functions if after.node is not None]
    return found


def unreached(document: Document) -> frozenset[str]:
    """Ids of the nodes to which no way of next_functions leads from a root: of a detached part, for example. It is empty if
    the document does not have its roots.
    """
    nodes, tensors = {n.id: n for n in document.nodes}, {t.id: t for t in document.tensors}
    if not document.roots or not all(id in tensors for id in document.roots):
        return frozenset()
    accumulators = {n.variable: n.id for n in document.nodes if n.variable is not None}
    starts = (tensors[id].grad_fn or accumulators.get(id) for id in document.roots)
    return frozenset(nodes.keys() - reached_from(nodes, filter(None, starts)))


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


def made_by_op(document: Document) -> tuple[tuple[str, ...], ...]:
    """For each op what exists once it has run: its id, results, node, and AccumulateGrad of leaves that it uses first."""
    nodes = {n.id: n for n in document.nodes}
    known: set[str] = set()
    found = []
    for op in document.ops:
        new = [op.id, *(t for t in op.outputs if t is not None)]
        if op.node is not None:
            new.append(op.node)
            ends = (f.node for f in nodes[op.node].next_functions if f.node is not None)
            new += [n for n in ends if nodes[n].variable is not None]
        found.append(tuple(id for id in dict.fromkeys(new) if id not in known))
        known.update(new)
    return tuple(found)


def hidden_at(document: Document, position: int) -> frozenset[str]:
    """The ids of what does not exist yet at a position; nothing is hidden from 0 on."""
    if position >= 0:
        return frozenset()
    return frozenset(id for made in made_by_op(document)[position:] for id in made)
