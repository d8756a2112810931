"""Find the tensor or backward node that a user means, and keep a gradient of it in sight."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .. import words
from ..graph.model import Document, Node, Tensor
from ..graph.text import label_of
from ..pictures.render.escape import printable
from .cursor import Cursor
from .stops import PLACED, SINGLE, Stop, fact_of

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
        id = known.id if isinstance(known, Tensor) else self._by_name.get(known, known) if isinstance(known, str) else None
        if id in self.tensors:
            return id
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


PLACE = re.compile(r"(\w+)\.(?:grad|(?:in|out)\.(\d+))")


@dataclass(frozen=True, slots=True)
class Pin:
    """A gradient in sight."""

    at: str  # "t3.grad" (grad of a leaf), "n5.in.0" (arrives at output 0), "n5.out.1" (leaves along next_functions[1])
    name: str  # for the reader
    start: str = "None"  # its value before the first step


def known_pins(document: Document, pins: Any) -> tuple[Pin, ...]:
    """Pins, or the dicts that a page sends, without unknown places and doubles."""
    places = [p.at if isinstance(p, Pin) else p.get("at") for p in pins if isinstance(p, Pin | dict)]
    known = dict.fromkeys(p for p in places if isinstance(p, str))
    return tuple(pin for at in known if (pin := pin_at(document, at)) is not None)


def place_of(targets: Targets, what: Any, edge: int | None) -> str:
    """The place of the gradient of a tensor, or of what leaves its grad_fn along an edge."""
    id = targets.node(what)
    if edge is None:
        tensor = targets.tensors[targets.tensor(what)]
        return f"{tensor.id}.grad" if tensor.grad_fn is None else f"{id}.in.{tensor.output_nr}"
    node = targets.nodes[id]
    if not 0 <= edge < len(node.next_functions):
        raise ValueError(f"{node.name} has {len(node.next_functions)} next_functions; there is no edge {edge}")
    return f"{id}.out.{edge}"


def pin_at(document: Document, at: str) -> Pin | None:
    """The pin at a place; None if there is no such place."""
    found = PLACE.fullmatch(at)
    if found is None:
        return None
    id, index = found[1], int(found[2] or 0)
    tensor = next((t for t in document.tensors if t.id == id and at.endswith(".grad")), None)
    if tensor is not None:
        grad = fact_of(tensor.grad)
        start = "None" if grad is None else grad.text or words.ui()["pin_norm"].format(norm=f"{grad.norm:.4g}")
        return Pin(at, printable(f"{label_of(document, id)}.grad"), start)
    if (node := next((n for n in document.nodes if n.id == id), None)) is None:
        return None
    if ".in." in at:
        made = next((t.id for t in document.tensors if t.grad_fn == id and t.output_nr == index), node.variable or id)
        return Pin(at, printable(words.ui()["pin_gradient"].format(name=label_of(document, made))))
    end = node.next_functions[index].node if index < len(node.next_functions) else None
    return None if end is None else Pin(at, printable(f"{label_of(document, id)} → {label_of(document, end)}"))
