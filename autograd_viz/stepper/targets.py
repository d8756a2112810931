"""Find the tensor or backward node that a user means."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..graph.model import Document, Node, Tensor
from ..graph.text import label_of
from ..pictures.render.escape import printable
from .cursor import Cursor
from .stops import PLACED, SINGLE, Stop

MOST = 1000  # characters of names that an error lists


class Targets:
    """The tensors and nodes of a document, as a user gives them: live, of the document, by name (tried first) or by id."""

    def __init__(self, document: Document, cursor: Cursor) -> None:
        self.tensors = {t.id: t for t in document.tensors}
        self.nodes = {n.id: n for n in document.nodes}
        self._document, self._cursor = document, cursor
        self._by_name = {t.name: t.id for t in document.tensors if t.name}

    def id_of(self, what: Any) -> Any:
        """The id of a tensor or node, given as itself or as a variable's name; other values are returned unchanged."""
        if not isinstance(what, str):
            return getattr(what, "id", None) or self._cursor.live.id_of(what) or what
        return next((t.id for t in self._document.tensors if t.name == what), what)

    def _known(self, what: Any) -> Any:
        """A live tensor or node as the document's; other values are returned unchanged."""
        id = None if isinstance(what, str) else self._cursor.live.id_of(what)
        return self.tensors.get(id or "") or self.nodes.get(id or "") or what

    def tensor(self, what: Any) -> str:
        """The id of a tensor. ValueError, with the names that there are, if it does not exist."""
        known = self._known(what)
        if isinstance(known, Tensor):
            return known.id
        if isinstance(known, str) and (known in self._by_name or known in self.tensors):
            return self._by_name.get(known, known)
        there = printable(", ".join(self._by_name))[:MOST] or "none with a name"
        raise ValueError(f"this graph has no tensor {known!r:.60}; it has: {there}")

    def node(self, what: Any) -> str:
        """The id of a node; of a tensor its grad_fn, or AccumulateGrad. ValueError if it does not exist."""
        known = self._known(what)
        if isinstance(known, Node):
            return known.id
        if isinstance(known, str) and known in self.nodes and known not in self._by_name:
            return known
        return self.end(known)

    def end(self, what: Any) -> str:
        """The node at which the gradient of a tensor arrives. ValueError if there is none."""
        tensor = self.tensors[self.tensor(what)]
        node = tensor.grad_fn or next((n.id for n in self.nodes.values() if n.variable == tensor.id), None)
        if node is None:
            raise ValueError(f"no gradient arrives at {tensor.name or tensor.id}: it does not require grad")
        return node

    def stop(self, kind: str, node: str, number: int = 0) -> Stop:
        """A stop of a node, with a name: a breakpoint has the node's, others that of the tensor."""
        of = self.nodes[node].variable or next((t.id for t in self.tensors.values() if t.grad_fn == node), node)
        return Stop(kind, node, number, label_of(self._document, node if kind == "node" else of))

    def stop_of(self, plain: dict[str, Any], there: Iterable[Stop]) -> Stop | None:
        """A stop that a page sends; a condition must be there already. None if it is none."""
        kind, node, number = plain.get("kind"), plain.get("node", ""), plain.get("number", 0)
        if kind in PLACED and any(n == node for n in self.nodes) and isinstance(number, int):
            return self.stop(kind, node, number)
        if kind == "condition":
            return next((s for s in there if s.kind == kind), None)
        is_number = isinstance(number, int | float) and 0 <= number < math.inf
        return Stop(kind, number=number) if kind in SINGLE and is_number else None


def reached_by(document: Document, tensor: str) -> frozenset[str]:
    """The nodes whose call shows that a gradient has reached the tensor: its grad_fn, or a leaf's AccumulateGrad."""
    leaf = {n.id for n in document.nodes if n.variable == tensor}
    return frozenset(leaf | {t.grad_fn for t in document.tensors if t.id == tensor and t.grad_fn})
