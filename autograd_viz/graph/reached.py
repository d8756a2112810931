"""Which nodes a backward pass from the roots of a document calls."""

from __future__ import annotations

from .model import Document


def unreached(document: Document) -> frozenset[str]:
    """Ids of the nodes to which no way of next_functions leads from a root: of a detached part, for example.

    It is empty if the document does not have its roots.
    """
    nodes = {n.id: n for n in document.nodes}
    tensors = {t.id: t for t in document.tensors}
    if not document.roots or not all(id in tensors for id in document.roots):
        return frozenset()
    accumulators = {n.variable: n.id for n in document.nodes if n.variable is not None}
    starts = (tensors[id].grad_fn or accumulators.get(id) for id in document.roots)
    stack = [start for start in starts if start is not None]
    seen: set[str] = set()
    while stack:
        if (id := stack.pop()) not in seen and id in nodes:
            seen.add(id)
            stack += [after.node for after in nodes[id].next_functions if after.node is not None]
    return frozenset(nodes.keys() - seen)
