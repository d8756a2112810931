"""Gradients that grow or shrink along the path, and where they change most."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from ...graph.passes import HUGE, TINY
from ...graph.text import number_text
from .cause import Cause, Said
from .facts import Edge, Facts
from .numbers import norm
from .ops import cause_at, name_of_op

LEAP = 10  # between two layers: a larger change is worth a sentence
SHARE = 0.5  # of the whole change, in powers of ten: above that, one node is the cause


class Hop(NamedTuple):
    """A node on the path, and the factor by which it changed the norm."""

    node: str
    factor: float


def size_causes(f: Facts) -> list[Cause]:
    """Where the norm grew or shrank most, if it is huge or tiny."""
    size = norm(f.subject.grad)
    if size is None or not size or TINY < size < HUGE or f.edge is None:
        return []
    huge = size >= HUGE
    most = [h for h in way(f, f.edge) if (h.factor > 1) == huge and h.factor != 1]
    if not most:
        return [_between(f, huge, {"norm": number_text(size)})]
    whole = sum(abs(math.log10(h.factor)) for h in most)
    best = max(most, key=lambda h: abs(math.log10(h.factor)))
    said = {"norm": number_text(size), "factor": number_text(best.factor), "count": str(len(most))}
    if abs(math.log10(best.factor)) >= SHARE * whole:
        results = tuple(t.id for t in f.results(best.node))
        return [cause_at(f, "grew" if huge else "shrank", best.node, results, **said)]
    names = [name_of_op(f, h.node) for h in most]
    usual = max(dict.fromkeys(names), key=names.count)
    same = tuple(h.node for h, name in zip(most, names, strict=True) if name == usual)
    said |= {"op": usual, "times": str(len(same))}
    return [Cause("grew_steadily" if huge else "shrank_steadily", (), same, f.source(best.node), said)]


def _between(f: Facts, huge: bool, said: dict[str, Said]) -> Cause:
    """The two parameters between which the gradient changed most.

    It is for paths on which only parameters' gradients are known.
    """
    rank = {o.id: i for i, o in enumerate(f.document.ops)}
    leaves = [t for n in f.passed if (v := f.nodes[n].variable) is not None and (t := f.tensors[v]).name and f.users.get(v)]
    leaves.sort(key=lambda t: min(rank[o.id] for o in f.users[t.id]))
    sized = [(t, n) for t in leaves if len(t.value.shape) > 1 and (n := norm(t.grad))]
    later = sized[next((i for i, (t, _) in enumerate(sized) if t.id == f.subject.id), len(sized)) :]
    pairs = list(pairwise(later))
    if not pairs:
        return Cause("huge" if huge else "tiny", (f.subject.id,), said=said)
    (a, after), (b, before) = (max if huge else min)(pairs, key=lambda p: p[0][1] / p[1][1])  # from b to a
    if max(after, before) < LEAP * min(after, before) or (after > before) != huge:
        return Cause("huge" if huge else "tiny", (f.subject.id,), said=said)
    said |= {"near": a.name or "", "near_norm": number_text(after), "far": b.name or "", "far_norm": number_text(before)}
    return Cause("grew_between" if huge else "shrank_between", (a.id, b.id), said=said)


def way(f: Facts, edge: Edge) -> list[Hop]:
    """From the loss to the edge along the largest gradients: the factor by which each node changed the norm."""
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
        hops.append(Hop(node, size / math.hypot(*(n for n, _ in there))))
        edge = (node, max(there)[1])
