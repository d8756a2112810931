"""Find the tensor or backward node that a name means."""

from __future__ import annotations

from typing import Any

from ..graph.model import Document, Node, Tensor
from ..pictures.render.escape import printable

MOST = 1000  # characters of names that an error lists


def tensor_of(document: Document, what: Any) -> str:
    """The id of a tensor, given by name (tried first), by id, or as the document's tensor.

    Raises:
        ValueError: it does not exist; the message lists the names.
    """
    if isinstance(what, Tensor):
        return what.id
    by_name = {t.name: t.id for t in document.tensors if t.name}
    if isinstance(what, str) and what in by_name:
        return by_name[what]
    if isinstance(what, str) and any(t.id == what for t in document.tensors):
        return what
    there = printable(", ".join(by_name))[:MOST] or "none with a name"
    raise ValueError(f"this graph has no tensor {what!r:.60}; it has: {there}")


def node_of(document: Document, what: Any) -> str:
    """The id of a node: the grad_fn (for a leaf: AccumulateGrad) of a tensor given as for `tensor_of`.

    A node is also accepted: by id, or as the document's own.

    Raises:
        ValueError: it does not exist.
    """
    if isinstance(what, Node):
        return what.id
    is_name = any(t.name == what for t in document.tensors if isinstance(what, str))
    if not is_name and any(n.id == what for n in document.nodes if isinstance(what, str)):
        return str(what)
    id = tensor_of(document, what)
    tensor = next(t for t in document.tensors if t.id == id)
    node = tensor.grad_fn or next((n.id for n in document.nodes if n.variable == id), None)
    if node is None:
        raise ValueError(f"no gradient arrives at {tensor.name or id}: it does not require grad")
    return node


def reached_by(document: Document, tensor: str) -> frozenset[str]:
    """The nodes whose call shows that a gradient has reached the tensor: its grad_fn, or a leaf's AccumulateGrad."""
    leaf = {n.id for n in document.nodes if n.variable == tensor}
    return frozenset(leaf | {t.grad_fn for t in document.tensors if t.id == tensor and t.grad_fn})
