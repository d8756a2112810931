"""Which row everything stands in (parts.py, Note [Two ladders]), and which chains stand beside an op.

# Note [Chains beside]
In `leaf → T → Addmm` a side chain leads from a leaf to the op where it joins. It stands in the bands just above that op,
beside the longest path into it. So a picture is only as wide as its program, even if the program is deep.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.model import Document
from .measure import tensor_inputs


def makers(document: Document) -> dict[str, str]:
    """Id of a tensor -> id of the op that made it."""
    return {t: op.id for op in document.ops for t in op.outputs if t is not None}


def ranks(document: Document, made_by: Mapping[str, str]) -> tuple[dict[str, int], dict[str, tuple[str, str]]]:
    """Row of every tensor, op and node. By op in a side chain, the op that takes its result, and which result.

    - An op stands one band below the last producer of its inputs.
    - An op of a side chain stands one band above its first consumer.
    - A leaf stands in the band of its first consumer.
    - A backward node stands beside its op, AccumulateGrad beside its leaf.
    - A node whose op is unknown stands below the nodes that it feeds.
    """
    deep: dict[str, int] = {}  # if each op stands as high as it can
    for op in document.ops:
        deep[op.id] = max((deep[made_by[t]] + 2 for t in tensor_inputs(op) if made_by.get(t) in deep), default=1)
    users = _users(document, made_by)
    chains = _from_leaves(document, made_by, users)
    row = dict(deep)
    beside: dict[str, tuple[str, str]] = {}
    for op in (op for op in reversed(document.ops) if op.id in chains and users[op.id]):
        first = min(users[op.id], key=lambda u: row[u[0]])
        row[op.id] = row[first[0]] - 2
        if first[0] in beside or deep[op.id] < deep[first[0]] - 2:
            beside[op.id] = first
    _tensor_rows(document, made_by, row)
    _node_rows(document, row)
    return row, beside


def _users(document: Document, made_by: Mapping[str, str]) -> dict[str, dict[tuple[str, str], None]]:
    """For each op, the ops that take its results, and which results they take."""
    users: dict[str, dict[tuple[str, str], None]] = {}
    for op in document.ops:
        for t in tensor_inputs(op):
            if made_by.get(t) in users:
                users[made_by[t]][op.id, t] = None
        users[op.id] = {}
    return users


def _from_leaves(
    document: Document, made_by: Mapping[str, str], users: Mapping[str, Mapping[tuple[str, str], None]]
) -> set[str]:
    """Ops of chains from leaves: each has one consumer, or is computed from one leaf alone."""
    chains: set[str] = set()
    single: set[str] = set()
    for op in document.ops:
        inputs = set(tensor_inputs(op))
        above = {made_by[t] for t in inputs if t in made_by}
        if len(inputs) == 1 and above <= single:
            single.add(op.id)
        if above <= chains and (op.id in single or len({u for u, _ in users[op.id]}) == 1):
            chains.add(op.id)
    return chains


def _tensor_rows(document: Document, made_by: Mapping[str, str], row: dict[str, int]) -> None:
    for op in document.ops:
        for t in op.outputs:
            if t is not None:
                row[t] = row[op.id] + 1
        for t in tensor_inputs(op):
            if t not in made_by:
                row[t] = min(row.get(t, row[op.id] - 1), row[op.id] - 1)
    for tensor in document.tensors:
        row.setdefault(tensor.id, 0)


def _node_rows(document: Document, row: dict[str, int]) -> None:
    for node in document.nodes:
        if node.variable is not None:
            row[node.id] = row[node.variable]
    for node in document.nodes:
        if node.op is not None:
            row[node.id] = row[node.op]
        elif node.variable is None:
            feeds = (row[f.node] for f in node.next_functions if f.node in row)
            row[node.id] = max((r + 2 - (r % 2 == 0) for r in feeds), default=1)
