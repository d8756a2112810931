"""Gradients that stay in sight: a leaf's grad, what arrives at a tensor's grad_fn, or what leaves along an edge."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .. import words
from ..graph.model import Document
from ..graph.text import label_of
from ..pictures.render.escape import printable
from .facts import fact_of
from .targets import Targets

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
    known = (pin_at(document, at) for at in dict.fromkeys(p for p in places if isinstance(p, str)))
    return tuple(p for p in known if p is not None)


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
    node = next((n for n in document.nodes if n.id == id), None)
    if node is None:
        return None
    if ".in." in at:
        made = next((t.id for t in document.tensors if t.grad_fn == id and t.output_nr == index), node.variable or id)
        return Pin(at, printable(words.ui()["pin_gradient"].format(name=label_of(document, made))))
    end = node.next_functions[index].node if index < len(node.next_functions) else None
    return None if end is None else Pin(at, printable(f"{label_of(document, id)} → {label_of(document, end)}"))
