"""Errors of autograd that are neither about a changed nor about a freed saved tensor."""

from __future__ import annotations

from ..graph.model import Source
from ..sentences import explain_error
from .cause import Cause
from .facts import Facts
from .missing import not_required_causes


def refusal(f: Facts | None, message: str, node: str | None, line: Source | None) -> list[Cause]:
    """What the error means, and for a root without a graph, why it has none."""
    name = f.called(node) if f is not None and node is not None else ""
    source = (f.source(node) if f is not None and node is not None else None) or line
    meaning = explain_error(message, name)
    found = [Cause("error", (), () if node is None else (node,), source, {"meaning": meaning})] if meaning else []
    if f is not None and "does not require grad and does not have a grad_fn" in message:
        found += not_required_causes(f)
    return found or [Cause("unknown_error")]
