"""What autograd holds for one root: each block of memory with the op, line and module that saved it first."""

from __future__ import annotations

import heapq
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...graph.model import Document, Node, Op, Value
from ...graph.order import reached_from
from ...graph.paths import Path, are_guessed, module_paths
from ...graph.storages import Memory, Storage
from ...graph.surroundings import Module
from ..maps.index import REARRANGING

VIEWS = REARRANGING - {"Clone", "Contiguous"}


@dataclass(frozen=True, slots=True)
class Holding:
    """A block of memory, at the first op that saved it."""

    storage: Storage  # its uses are those of nodes that the pass calls
    node: Node
    op: Op | None
    path: Path  # the module of the op
    label: str  # what lies in it: the name of a parameter or variable, or the op and what it saved


class Facts:
    """What autograd holds for the root of a document. `again`: what checkpoints compute again. `stays`: bytes that are there
    before and after the pass.
    """

    def __init__(self, document: Document, held: Memory) -> None:
        self.document, self.again, self.stays = document, held.again, held.stays
        self.nodes: dict[str, Node] = {n.id: n for n in document.nodes}
        self.tensors = {t.id: t for t in document.tensors}
        self.ops: dict[str, Op] = {op.id: op for op in document.ops}
        self.modules: dict[str, Module] = {m.path: m for m in document.modules}
        self.is_guessed = are_guessed(document) and any(m.path for m in document.modules)
        self.op_paths = dict(zip(self.ops, module_paths(document), strict=True))
        # by node, the module in which its op ran
        self.paths: dict[str, Path] = {n.id: self.op_paths.get(n.op or "", ()) for n in document.nodes}
        self.calls = _calls(document, self.nodes)  # ids of the nodes, in the order in which backward calls them
        self.place = {id: i for i, id in enumerate(self.calls)}
        found = [(s, uses) for s in held.storages if (uses := tuple(u for u in s.uses if u.node in self.place))]
        holdings = [self._holding(Storage(s.bytes, s.kind, uses, s.tensors, s.name)) for s, uses in found]
        self.holdings: Sequence[Holding] = sorted(holdings, key=lambda h: -h.storage.bytes)  # the largest first
        self.held = {t: h for h in self.holdings for t in h.storage.tensors}  # by tensor, the block that nodes hold
        self.makers = {t: op for op in document.ops for t in op.outputs if t is not None}  # by tensor, the op that made it

    def _holding(self, storage: Storage) -> Holding:
        first = storage.uses[0]
        node = self.nodes[first.node]
        op = self.ops.get(node.op or "")
        named = storage.name or next((name for t in storage.tensors if (name := self.tensors[t].name)), None)
        return Holding(storage, node, op, self.paths[node.id], named or f"{(op or node).name}.{first.name}")

    def views(self, tensor: str | None) -> Iterator[str]:
        """A tensor; if it is a view, the one that it shows; and so on."""
        while tensor is not None:
            yield tensor
            maker = self.makers.get(tensor)
            shown = maker.inputs if maker is not None and maker.name in VIEWS else ()
            tensor = next((o.tensor for o in shown if o.tensor is not None), None)

    def viewed(self, tensor: str) -> str:
        """The tensor whose memory a view shows, as far as the graph tells; of other tensors itself."""
        shown = list(self.views(tensor))
        return next((t for t in shown if t in self.held), shown[-1])

    def bytes(self, *kinds: str) -> int:
        """All blocks, or those of some kinds."""
        return sum(h.storage.bytes for h in self.holdings if not kinds or h.storage.kind in kinds)

    @property
    def count(self) -> int:
        """How many saved tensors there are."""
        return sum(len(h.storage.uses) for h in self.holdings)

    def module_of(self, path: Path) -> str:
        """The class of a module; empty if it is not known."""
        module = self.modules.get(".".join(path))
        return "" if module is None else module.name


def _calls(document: Document, nodes: dict[str, Node]) -> list[str]:
    """The order of the pass: AccumulateGrad as soon as it is ready, else the node that was made last."""
    ready: list[tuple[float, int, str]] = []
    ticket = itertools.count()
    grad_fns = [t.grad_fn for t in document.tensors if t.id in document.roots and t.grad_fn is not None]
    starts = grad_fns or [n.id for n in document.nodes if n.variable in document.roots]  # of a leaf its AccumulateGrad
    waits = Counter(f.node for id in reached_from(nodes, starts) for f in nodes[id].next_functions if f.node is not None)
    found = []

    def push(id: str) -> None:
        order = nodes[id].order
        heapq.heappush(ready, (-math.inf if order is None else -order, next(ticket), id))

    for id in starts:
        push(id)
    while ready:
        found.append(id := heapq.heappop(ready)[2])
        for f in nodes[id].next_functions:
            if f.node is not None:
                waits[f.node] -= 1
                if not waits[f.node]:
                    push(f.node)
    return found


_BITS = re.compile(r"\d+")


def around(path: Path) -> Iterator[Path]:
    """The paths of a module and of those around it, from the outermost; without the model itself."""
    return (path[:k] for k in range(1, len(path) + 1))


def bytes_of(value: Value) -> int:
    """The bytes of a dense tensor of this shape and type."""
    bits = 8 if value.dtype == "bool" else int(found[0]) if (found := _BITS.search(value.dtype)) else 0
    return math.prod(value.shape) * bits // 8
