"""What a person means by a name: the tensor or the backward node of a document."""

from __future__ import annotations

from typing import Any

from .graph.model import Document


def tensor_of(document: Document, what: Any) -> str:
    """The id of a tensor, given by id or by its name.

    Raises:
        ValueError: there is none; the message lists the names.
    """
    by_name = {t.name: t.id for t in document.tensors if t.name}
    if what in by_name.values() or any(t.id == what for t in document.tensors):
        return str(what)
    if isinstance(what, str) and what in by_name:
        return by_name[what]
    raise ValueError(f"there is no tensor {what!r} in this graph; there are: {', '.join(by_name) or 'none with a name'}")


def node_of(document: Document, what: Any) -> str:
    """The id of a node, given by id, or as the grad_fn (for a leaf: AccumulateGrad) of a tensor given by id or name.

    Raises:
        ValueError: there is none.
    """
    if any(n.id == what for n in document.nodes):
        return str(what)
    id = tensor_of(document, what)
    tensor = next(t for t in document.tensors if t.id == id)
    node = tensor.grad_fn or next((n.id for n in document.nodes if n.variable == id), None)
    if node is None:
        raise ValueError(f"no gradient arrives at {tensor.name or id}: it does not require grad")
    return node


def reached_by(document: Document, tensor: str) -> frozenset[str]:
    """The nodes whose call tells that a gradient has reached the tensor: its grad_fn, or a leaf's AccumulateGrad."""
    leaf = {n.id for n in document.nodes if n.variable == tensor}
    return frozenset(leaf | {t.grad_fn for t in document.tensors if t.id == tensor and t.grad_fn})
