"""Bundles: the many edges of a crowded box, one with more than `MANY` on one side, are drawn as few.

# Note [Bundles]
- What it takes from one tensor is one edge. All edges between it and one other box are one edge, too.
- A result that stands for others has no box. A result with a box (a variable of the user's holds it) keeps its own edge.
- Results of a crowded box that nothing takes are not drawn.
- Outputs of a backward node are one output if the same nodes send to them.
An edge shows how many it stands for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .collapsed import MANY, Collapsed, Thinned
from .model import Document, Entry, NextFunction, Node, Op, Operand, Tensor

Output = tuple[str, int]  # a node's id, and which output of its op


def bundle(shown: Collapsed) -> Collapsed:
    """The document with bundles; `shown` itself if nothing in it is crowded. Takes linear time."""
    bundles = _Bundles(shown.document)
    if not bundles.crowded:
        return shown
    document = bundles.document()
    moved = {old: bundles.moved.get(at, at) for old, at in shown.moved.items()}
    return replace(shown, document=document, moved={**bundles.moved, **moved}, thinned=bundles.thinned)


class _Bundles:
    def __init__(self, document: Document) -> None:
        self.whole = document
        self.crowded = {o.id for o in document.ops if max(len(o.inputs), len(o.outputs)) > MANY}  # ids of ops and nodes
        self.crowded |= {n.id for n in document.nodes if max(n.outputs, len(n.next_functions)) > MANY}
        self.moved: dict[str, str] = {}  # address of an edge -> address of the edge that is drawn for it
        self.thinned: dict[str, Thinned] = {}  # by id of a node, what each of its drawn edges stands for

    def document(self) -> Document:
        whole, self.stands = self.whole, self._results()
        self.several = {t for t, count in Counter(self.stands.values()).items() if count > 1}
        self.place = self._outputs()
        self.joined = {at for at, count in Counter((n, k) for (n, _), k in self.place.items()).items() if count > 1}
        there = {t.id for t in whole.tensors if self.stands.get(t.id, t.id) == t.id}
        return replace(
            whole,
            tensors=tuple(self._tensor(t, there) for t in whole.tensors if t.id in there),
            ops=tuple(self._op(o) for o in whole.ops),
            nodes=tuple(self._node(n, there) for n in whole.nodes),
            statements=tuple(s for s in whole.statements if s.tensor in there),
        )

    def _results(self) -> dict[str, str | None]:
        """Results without a box that a crowded op takes or makes: the result whose edge stands for each; None: not drawn."""
        maker = {t: op for op in self.whole.ops for t in op.outputs if t is not None}
        users = defaultdict[str | None, dict[str, None]](dict)
        for op in self.whole.ops:
            for operand in op.inputs:
                users[operand.tensor][op.id] = None
        stands, first = dict[str, str | None](), dict[object, str]()
        for t in self.whole.tensors:
            made, used = maker.get(t.id), tuple(users.get(t.id, ()))
            named = t.name is not None and t.name.isidentifier()
            has_box = named or t.id in self.whole.roots or t.retains_grad or (t.is_leaf and t.requires_grad)
            if made is None or has_box or self.crowded.isdisjoint((made.id, *used)):
                continue
            if used:
                stands[t.id] = first.setdefault((made.id, used, t.requires_grad), t.id)
            elif len(made.outputs) > MANY:
                stands[t.id] = None
        return stands

    def _op(self, op: Op) -> Op:
        """The op with one operand for each tensor that it takes."""
        inputs, outputs = op.inputs, op.outputs
        taken = [self.stands.get(i.tensor, i.tensor) if i.tensor is not None else None for i in inputs]
        if op.id in self.crowded or not self.several.isdisjoint(taken):
            counts = Counter(t for t in taken if t is not None)
            inputs = (*(Operand(t, count=count) for t, count in counts.items()), *(i for i in inputs if i.tensor is None))
        if not self.stands.keys().isdisjoint(outputs):
            made = (self.stands.get(t, t) for t in outputs if t is not None)
            outputs = tuple(dict.fromkeys(t for t in made if t is not None))
        return replace(op, inputs=inputs, outputs=outputs)

    def _tensor(self, t: Tensor, there: set[str]) -> Tensor:
        name, shares = None if t.id in self.several else t.name, tuple(s for s in t.shares if s in there)
        return replace(t, name=name, shares=shares, output_nr=self._place(t.grad_fn, t.output_nr))

    def _place(self, node: str | None, index: int) -> int:
        return self.place.get((node or "", index), index)

    def _outputs(self) -> dict[Output, int]:
        """For each output of a node, the output that stands for it. Outputs are one if the same nodes send to them."""
        senders = defaultdict[Output, dict[str, None]](dict)
        of = set(self.crowded)  # and the nodes that have edges with a crowded one
        for n in self.whole.nodes:
            for f in n.next_functions:
                if f.node is not None:
                    senders[f.node, f.index][n.id] = None
                    of |= {f.node} if n.id in self.crowded else set()
        for t in self.whole.tensors:
            if t.id in self.whole.roots and t.grad_fn is not None:
                senders[t.grad_fn, t.output_nr][""] = None
        place: dict[Output, int] = {}
        for n in self.whole.nodes:
            if n.outputs > 1 and n.id in of:
                seen: dict[tuple[str, ...], int] = {}
                for i in range(n.outputs):
                    place[n.id, i] = seen.setdefault(tuple(senders[n.id, i]), len(seen))
        return place

    def _node(self, n: Node, there: set[str]) -> Node:
        saved = tuple(replace(s, tensor=None) if s.tensor is not None and s.tensor not in there else s for s in n.saved)
        outputs = [self._place(n.id, i) for i in range(n.outputs)]
        ends = [NextFunction(f.node, self._place(f.node, f.index)) for f in n.next_functions]
        edges = self._edges(n, ends)
        if len(set(outputs)) == n.outputs and len(set(edges)) == len(ends):
            return replace(n, saved=saved, next_functions=tuple(ends))
        self.moved |= {f"sum:{n.id}.{i}": f"sum:{n.id}.{k}" for i, k in enumerate(outputs)}
        self.moved |= {f"next:{n.id}.{i}": f"next:{n.id}.{k}" for i, k in enumerate(edges)}
        self.thinned[n.id] = Thinned(_alone(outputs), _alone(edges))
        counts, which = Counter(edges), dict(zip(edges, ends, strict=True))
        entries = n.entries or tuple(Entry(n.name, i) for i in range(n.outputs))
        ends = [replace(which[k], count=count) for k, count in counts.items()]
        count, joined = len(set(outputs)), _joined(outputs, entries)
        return replace(n, outputs=count, next_functions=tuple(ends), saved=saved, formulas=n.formulas[:MANY], entries=joined)

    def _edges(self, n: Node, ends: list[NextFunction]) -> list[int]:
        """For each edge, the number of the one that is drawn for it."""
        seen: dict[object, int] = {}
        is_one = n.id in self.crowded
        return [seen.setdefault(f if is_one or (f.node, f.index) in self.joined else i, len(seen)) for i, f in enumerate(ends)]


def _alone(places: list[int]) -> tuple[int | None, ...]:
    """For each drawn place, the one that it stands for; None if it stands for several."""
    which = {k: i for i, k in enumerate(places)}
    return tuple(which[k] if count == 1 else None for k, count in Counter(places).items())


def _joined(outputs: list[int], entries: Iterable[Entry]) -> tuple[Entry, ...]:
    of = defaultdict[int, dict[Entry, None]](dict)
    for k, entry in zip(outputs, entries, strict=True):
        of[k][entry] = None
    return tuple(Entry(_same({e.name for e in all}, "…"), _same({e.index for e in all}, None)) for all in of.values())


def _same(all: set[Any], otherwise: Any) -> Any:
    """The value that all of them share, else `otherwise`."""
    return next(iter(all)) if len(all) == 1 else otherwise
