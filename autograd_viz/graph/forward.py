"""The forward pass of a document as positions before 0: -F (only leaves) to 0 (the last of F ops has run)."""

from __future__ import annotations

from .model import Document


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
