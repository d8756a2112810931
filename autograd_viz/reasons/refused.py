"""Errors of autograd that are neither about a changed nor about a freed saved tensor."""

from __future__ import annotations

from ..graph.model import Source
from ..sentences import explain_error
from .cause import Cause
from .facts import Facts
from .made import made_at
from .missing import missing_causes, not_required_causes

NO_GRAPH = "does not require grad and does not have a grad_fn"
NOT_LEAF = "can't optimize a non-leaf Tensor"


def refusal(f: Facts | None, message: str, node: str | None, line: Source | None) -> list[Cause]:
    """What the error means, and for a root without a graph, why it has none."""
    name = f.called(node) if f is not None and node is not None else ""
    source = (f.source(node) if f is not None and node is not None else None) or line
    meaning = explain_error(message, name)
    found = [Cause("error", (), () if node is None else (node,), source, {"meaning": meaning})] if meaning else []
    if f is not None and NO_GRAPH in message:
        found += not_required_causes(f)
    return found or [Cause("unknown_error")]


def complaint(f: Facts, message: str, line: Source | None) -> list[Cause]:
    """What is wrong with a tensor that the failing call was given; nothing if that is all right.

    Args:
        f: about the tensor; the loss is what grad() was to differentiate, if it was grad() that failed.
        message: the error's text.
        line: of the user's, at which it was raised.
    """
    t = f.subject
    if NOT_LEAF in message:
        node = f.called(t.grad_fn) if t.grad_fn is not None else ""
        made = Cause("computed_not_leaf", (t.id,), source=made_at(f), said={"node": node})
        return [] if t.is_leaf else [*refusal(None, message, None, line), made]
    is_named = any(part in message for part in ("One of the differentiated Tensors", "to not have been used in the graph"))
    if not is_named or (t.requires_grad and f.is_connected):
        return []
    return [*refusal(None, message, None, line), *missing_causes(f)]
