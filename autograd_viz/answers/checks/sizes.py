"""Gradients that grow or shrink along the path, and where most; or that are zero up to rounding, as later ops subtract them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from ...graph.model import Tensor, Value
from ...graph.passes import HUGE, TINY
from ...graph.text import number_text
from ..causes.cause import Cause, Said
from ..causes.check import ASKED, MAY, check
from ..causes.facts import Edge, Facts
from ..causes.numbers import is_constant, norm
from ..causes.ops import cause_at, name_of_op

FAULTS, ANSWERS = ("resized_by_hooks", "shrank_*", "grew_*"), ("resized_by_hook", "shrank", "grew")
PILED = 3  # hooks of one function on a leaf
LEAP = 10  # between two layers: a larger change is worth a sentence
SHARE = 0.5  # of the whole change, in powers of ten: above that, one node is the cause
ROUNDING = 1e-3  # of the norm of another gradient at the same node: a smaller one is rounding
BIASES = (("Addmm", 0), ("Convolution", 2), ("Add", 0), ("Add", 1))  # ops that take a bias, and the index of that input
ROUTES = (
    "View", "UnsafeView", "ReshapeAlias", "Reshape", "Transpose", "T", "Permute", "Unsqueeze", "Squeeze", "Clone", "Split",
    "Select", "Chunk", "Unbind", "Slice", "Alias",
)  # fmt: skip
WHOLE = tuple(r for r in ROUTES if r not in ("Split", "Select", "Chunk", "Unbind", "Slice"))  # views of all elements
LAYER_NORM = "NativeLayerNorm"
BIAS = 2  # the bias among the inputs of a norm
NORMS = ("NativeBatchNorm", "CudnnBatchNorm", "MiopenBatchNorm")
ATTENTION = "ScaledDotProduct"
MOST_ROUTES = 10  # views that are followed
KEY = 1  # the key among the inputs of attention


class Hop(NamedTuple):
    """A node on the path, and the factor by which it changed the norm."""

    node: str
    factor: float


@check("AV304", "vanishing-or-exploding", {**dict.fromkeys(FAULTS, MAY), **dict.fromkeys(ANSWERS, ASKED)})
def gradient_size(f: Facts) -> list[Cause]:
    """A gradient that shrinks or grows on its way from the loss, so that it is tiny or huge here."""
    size = norm(f.subject.grad)
    hooks = () if f.edge is None else f.live.hooks(f.edge[0])
    is_piled = len(hooks) >= PILED and len({*hooks}) == 1  # one in each iteration
    if size is None or not size or (TINY < size < HUGE and not is_piled) or f.edge is None:
        return []
    senders = f.senders.get(f.edge, ())
    sent = norm(f.sent(*senders[0])) if hooks and len(senders) == 1 else None
    if sent and not size / LEAP < sent < size * LEAP:
        told = {"norm": number_text(size), "before": number_text(sent), "count": str(len(hooks)), "hook": hooks[0]}
        return [Cause("resized_by_hook" + "s" * (len(hooks) > 1), (f.subject.id,), said=told)]
    is_cancelled = size <= TINY and senders and all(_is_bias(f, *s) and _is_rounding(f, s[0]) for s in senders)
    if TINY < size < HUGE or is_cancelled:  # such a bias moves all rows alike, and only their differences count
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
    """The two parameters between which it changed most, for paths on which only parameters' gradients are known."""
    sized = f.once(_sized)
    later = sized[next((i for i, (t, _) in enumerate(sized) if t.id == f.subject.id), len(sized)) :]
    pairs = list(pairwise(later))
    if not pairs:
        return Cause("huge" if huge else "tiny", (f.subject.id,), said=said)
    (a, after), (b, before) = (max if huge else min)(pairs, key=lambda p: p[0][1] / p[1][1])  # from b to a
    if max(after, before) < LEAP * min(after, before) or (after > before) != huge:
        return Cause("huge" if huge else "tiny", (f.subject.id,), said=said)
    said |= {"near": a.name or "", "near_norm": number_text(after), "far": b.name or "", "far_norm": number_text(before)}
    return Cause("grew_between" if huge else "shrank_between", (a.id, b.id), said=said)


def _sized(f: Facts) -> list[tuple[Tensor, float]]:
    """The parameters of the pass that are no biases, in the order of their first use, with the norms of their gradients."""
    rank = {o.id: i for i, o in enumerate(f.document.ops)}
    leaves = [t for n in f.pass_nodes if (v := f.nodes[n].variable) is not None and (t := f.tensors[v]).name and f.users.get(v)]
    leaves.sort(key=lambda t: min(rank[o.id] for o in f.users[t.id]))
    return [(t, n) for t in leaves if len(t.value.shape) > 1 and (n := norm(t.grad))]


def _sizes(f: Facts) -> dict[Any, float | None]:
    """The norms that are known so far, of gradients that nodes have sent or got."""
    return {}


def way(f: Facts, edge: Edge) -> list[Hop]:
    """From the loss to the edge along the largest gradients: the factor by which each node changed the norm."""
    hops, seen, sizes = list[Hop](), set[str](), f.once(_sizes)

    def size_of(at: tuple[str, int], find: Callable[..., Value | None]) -> float | None:
        if (at, find.__name__) not in sizes:
            sizes[at, find.__name__] = norm(find(*at))
        return sizes[at, find.__name__]

    while True:
        sent = [(n, s) for s in f.senders.get(edge, ()) if s[0] not in seen and (n := size_of(s, f.sent))]
        if not sent:
            return hops[::-1]
        size, (node, _) = max(sent)
        seen.add(node)
        there = [(n, k) for k in range(f.nodes[node].outputs) if (n := size_of((node, k), f.arrived))]
        if not there:
            return hops[::-1]
        hops.append(Hop(node, size / math.hypot(*(n for n, _ in there))))
        edge = (node, max(there)[1])


def no_effect(f: Facts) -> list[Cause]:
    """A bias that is subtracted again, or a loss that is the same for any input."""
    return [c for c in (_taken_away(f) or _level(f),) if c is not None]


def _level(f: Facts) -> Cause | None:
    """The loss is the plain sum or mean of a norm's result: the same for any input."""
    first = f.starts[0][0] if len(f.starts) == 1 else None
    node = _behind(f, first) if first is not None and f.called(first).startswith(("Sum", "Mean")) else None
    if node is None or f.edge is None or not _is_level(f, node):
        return None
    into, *others = f.nodes[node].next_functions
    is_behind = into.node is not None and f.edge[0] in f.downstream([into.node])
    biases = [v for a in others[BIAS - 1 :] if a.node is not None and (v := f.nodes[a.node].variable) is not None]
    size = next((s for b in biases if (s := norm(f.tensors[b].grad))), None)
    if not is_behind or size is None or (norm(f.subject.grad) or 0.0) > ROUNDING * size:
        return None
    return cause_at(f, "zero_level", node, (f.subject.id, *f.loss))


def _is_level(f: Facts, node: str) -> bool:
    """Is the sum of its result constant? It subtracts the mean, and weighs all elements alike."""
    if f.called(node).startswith(NORMS):
        return f.plain(node, "training") == "True"  # within a channel all have one weight
    if not f.called(node).startswith(LAYER_NORM):
        return False
    weights = [f.nodes[a.node].variable for a in f.nodes[node].next_functions[1:BIAS] if a.node is not None]
    return all(w is not None and is_constant(f.tensors[w].value) for w in weights)


def _behind(f: Facts, node: str) -> str | None:
    """The node behind a sum, and behind the views of its input."""
    for _ in range(MOST_ROUTES):
        after = f.ways_on(node)
        if len(after) != 1:
            return None
        node = after[0]
        if not f.called(node).startswith(WHOLE):
            return node
    return None


def _taken_away(f: Facts) -> Cause | None:
    """The subject is a bias that a batch norm, or the softmax of attention, subtracts again."""
    senders = f.senders.get(f.edge, []) if f.edge is not None else []
    if len(senders) != 1 or not _is_bias(f, *senders[0]) or not _is_rounding(f, senders[0][0]):
        return None
    taker = _taker(f, senders[0][0])
    if taker is None:
        return None
    node, i = taker
    kind = "zero_shifted" if f.called(node).startswith(ATTENTION) else "zero_normed"
    is_met = i == KEY if kind == "zero_shifted" else f.plain(node, "training") == "True"
    return cause_at(f, kind, node, (f.subject.id,)) if is_met else None


def _is_bias(f: Facts, node: str, i: int) -> bool:
    name = f.called(node)
    return len(f.subject.value.shape) == 1 and any(name.startswith(f"{op}Backward") and i == at for op, at in BIASES)


def _is_rounding(f: Facts, node: str) -> bool:
    """Is its gradient negligible next to those of the op's other tensors?"""
    own = norm(f.subject.grad) or 0.0
    edges = {(after.node, after.index) for after in f.nodes[node].next_functions if after.node is not None}
    behind = [*edges, *((a.node, a.index) for n, _ in edges for a in f.nodes[n].next_functions if a.node is not None)]
    leaves = [f.tensors[v] for n, _ in behind if (v := f.nodes[n].variable) is not None and v != f.subject.id]
    sizes = [s for t in leaves if (s := norm(t.grad))]
    return bool(sizes) and own < ROUNDING * max(sizes)


def _taker(f: Facts, node: str) -> Edge | None:
    """The first node behind views of the op's result that is no view, and the input that takes the result."""
    seen = {node}
    while True:
        senders = [s for e in f.edges_at(node) for s in f.senders.get(e, ())]
        if len(senders) != 1 or senders[0][0] in seen:
            return None
        node, i = senders[0]
        seen.add(node)
        if f.called(node).startswith((*NORMS, ATTENTION)):
            return node, i
        if not f.called(node).startswith(ROUTES):
            return None
