"""Which row everything stands in (parts.py, Note [Two ladders])."""

from __future__ import annotations

from ..graph.model import Document
from .measure import tensor_inputs


def makers(document: Document) -> dict[str, str]:
    """Id of a tensor -> id of the op that made it."""
    return {t: op.id for op in document.ops for t in op.outputs if t is not None}


def ranks(document: Document) -> dict[str, int]:
    """Row of every tensor, op and node.

    An op stands one band below the last producer of its inputs, a leaf in the band of its first consumer, a backward node
    beside its op, AccumulateGrad beside its leaf. A node whose op is unknown stands below the nodes that it feeds.
    """
    row: dict[str, int] = {}
    made_by = makers(document)
    for op in document.ops:
        inputs = tensor_inputs(op)
        row[op.id] = 1 + max((row[made_by[t]] + 1 for t in inputs if t in made_by and made_by[t] in row), default=0)
        for t in op.outputs:
            if t is not None:
                row[t] = row[op.id] + 1
        for t in inputs:
            if t not in made_by:
                row[t] = min(row.get(t, row[op.id] - 1), row[op.id] - 1)
    for tensor in document.tensors:
        row.setdefault(tensor.id, 0)
    for node in document.nodes:
        if node.variable is not None:
            row[node.id] = row[node.variable]
    for node in document.nodes:
        if node.op is not None:
            row[node.id] = row[node.op]
        elif node.variable is None:
            feeds = (row[f.node] for f in node.next_functions if f.node in row)
            row[node.id] = max((r + 2 - (r % 2 == 0) for r in feeds), default=1)
    return row
