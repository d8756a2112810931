"""Norms of a pass, for the map: what arrived at each output and went along each edge."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from ..graph.model import Document
from ..graph.text import norm_of
from ..graph.trace import Trace


def norm_text(number: float) -> str:
    """1.35, 0.0047, 3.2e-07."""
    return f"{number:.3g}"


def together(norms: Iterable[float | None]) -> float | None:
    """The norm of several gradients as one vector; None if one of them is not known."""
    known = list(norms)
    return None if not known or any(n is None for n in known) else math.hypot(*(n for n in known if n is not None))


class Norms:
    """The gradients of one pass by where they were.

    Args:
        document: the graph.
        trace: a pass through it; empty: nothing is known but the `grad` of leaves.
    """

    def __init__(self, document: Document, trace: Trace) -> None:
        self._nodes = {n.id: n for n in document.nodes}
        self._users: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
        for node in document.nodes:
            for k, f in enumerate(node.next_functions):
                if f.node is not None:
                    self._users[f.node, f.index].append((node.id, k))
        self._tensors = {t.id: t for t in document.tensors}
        self._arrived = {s.node: tuple(map(norm_of, s.grad_outputs)) for s in trace.steps}
        self._left = {s.node: tuple(map(norm_of, s.grad_inputs)) for s in trace.steps}
        self._leaves = {s.accumulation.tensor: norm_of(s.accumulation.new) for s in trace.steps if s.accumulation is not None}

    def arrived(self, tensor: str) -> float | None:
        """Of the gradient of a tensor, all of it."""
        t = self._tensors[tensor]
        if t.grad_fn is None:
            return self.of_leaf(tensor)
        outputs = self._arrived.get(t.grad_fn, ())
        return outputs[t.output_nr] if t.output_nr < len(outputs) else None

    def of_leaf(self, tensor: str) -> float | None:
        """Of the `grad` of a leaf: after the pass, or, if none ran, as it is."""
        return self._leaves[tensor] if tensor in self._leaves else norm_of(self._tensors[tensor].grad)

    def along(self, tensor: str, nodes: frozenset[str]) -> float | None:
        """Of what these nodes sent back to a tensor; None if several of them did: what they sent was summed."""
        t = self._tensors[tensor]
        if t.grad_fn is None:
            return None
        users = self._users[t.grad_fn, t.output_nr]
        inside = [(node, k) for node, k in users if node in nodes]
        if len(inside) == len(users) and users:
            return self.arrived(tensor)
        if len(inside) != 1:
            return None
        node, k = inside[0]
        sent = self._left.get(node, ())
        return sent[k] if k < len(sent) else None
