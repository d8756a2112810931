"""Gradients that grow or shrink on their way: where most."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..graph.text import number_text
from .cause import Cause
from .facts import Edge, Facts
from .numbers import norm, together

HUGE, TINY = 1e4, 1e-6  # norms beyond which somebody should ask
SHARE = 0.5  # of the whole change, in powers of ten: then one node is to blame


class Hop(NamedTuple):
    """A node on the way and by what factor the norm changed in it."""

    node: str
    factor: float


def size_causes(f: Facts) -> list[Cause]:
    """Where the norm grew or shrank most, if it is huge or tiny."""
    size = norm(f.subject.grad)
    if size is None or not size or TINY < size < HUGE or f.edge is None:
        return []
    hops = way(f, f.edge)
    huge = size >= HUGE
    most = [h for h in hops if (h.factor > 1) == huge and h.factor != 1]
    said = {"norm": number_text(size)}
    if not most:
        return [Cause("huge" if huge else "tiny", (f.subject.id,), said=said)]
    whole = sum(abs(math.log10(h.factor)) for h in most)
    best = max(most, key=lambda h: abs(math.log10(h.factor)))
    said |= {"node": f.called(best.node), "factor": number_text(best.factor), "count": str(len(most))}
    if abs(math.log10(best.factor)) >= SHARE * whole:
        return [Cause("grew" if huge else "shrank", _results(f, best.node), (best.node,), f.source(best.node), said)]
    names = [f.called(h.node) for h in most]
    said["node"] = max(dict.fromkeys(names), key=names.count)
    said["times"] = str(names.count(said["node"]))
    same = tuple(h.node for h in most if f.called(h.node) == said["node"])
    return [Cause("grew_steadily" if huge else "shrank_steadily", (), same, f.source(best.node), said)]


def _results(f: Facts, node: str) -> tuple[str, ...]:
    return tuple(t.id for t in f.results(node))


def way(f: Facts, edge: Edge) -> list[Hop]:
    """From the loss to the edge along the largest gradients: by what factor each node changed the norm."""
    hops: list[Hop] = []
    seen = set()
    while True:
        sent = [(n, s) for s in f.senders.get(edge, ()) if s[0] not in seen and (n := norm(f.sent(*s)))]
        if not sent:
            return hops[::-1]
        size, (node, _) = max(sent)
        seen.add(node)
        there = [(n, k) for k in range(f.nodes[node].outputs) if (n := norm(f.arrived(node, k)))]
        if not there:
            return hops[::-1]
        hops.append(Hop(node, size / together([n for n, _ in there])))
        edge = (node, max(there)[1])
