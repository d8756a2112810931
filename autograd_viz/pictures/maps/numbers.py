"""Norms of a pass, by the place where each gradient was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...graph.model import Document
from ...graph.text import norm_of
from ...graph.trace import State, Step, Trace

Place = tuple[str, str, int]
"""Node, "in", k: what arrived at output k of its op. Node, "out", k: what left along next_functions[k]. Leaf, "grad", 0."""


@dataclass(frozen=True, slots=True)
class Outliers:
    """What is odd about the leaves that require grad, by id."""

    grads: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()  # grads, values: their gradient, or their values, are far from those of the others
    missing: frozenset[str] = frozenset()  # they got no gradient, where others of their model did
    blocked: frozenset[str] = frozenset()  # their gradient is all zero, though one arrived at their card


def arrival(node: str, output: int) -> Place:
    """Where the gradient of an output arrives."""
    return node, "in", output


def sent(node: str, index: int) -> Place:
    """Where the gradient of an input leaves."""
    return node, "out", index


def norm_text(number: float | None) -> str:
    """1.35, 0.0047, 3.2e-07; nothing of None."""
    return "" if number is None else f"{number:.3g}"


def of_step(step: Step) -> dict[Place, float | None]:
    """What one call of a node tells."""
    found: dict[Place, float | None] = {arrival(step.node, k): norm_of(g) for k, g in enumerate(step.grad_outputs)}
    found |= {sent(step.node, k): norm_of(g) for k, g in enumerate(step.grad_inputs)}
    if step.accumulation is not None:
        found[step.accumulation.tensor, "grad", 0] = norm_of(step.accumulation.new)
    return found


def of_trace(trace: Trace) -> dict[Place, float]:
    """What a pass tells."""
    return {place: norm for step in trace.steps for place, norm in of_step(step).items() if norm is not None}


def of_state(document: Document, state: State) -> dict[Place, float]:
    """What a moment of a pass tells: the numbers on the arrows of nodes that have been called."""
    values = {at: norm for at, value in state.values.items() if (norm := norm_of(value)) is not None}
    found: dict[Place, float] = {}
    for node in document.nodes:
        for k, f in enumerate(node.next_functions):
            norm = values.get(f"next:{node.id}.{k}")
            if norm is not None and f.node is not None:
                found[sent(node.id, k)] = norm
                if f.node in state.called:
                    found[arrival(f.node, f.index)] = norm
    for node in document.nodes:
        for k in range(node.outputs):
            if (norm := values.get(f"sum:{node.id}.{k}")) is not None:
                found[arrival(node.id, k)] = norm
    for t in document.tensors:
        if t.grad_fn is not None and (norm := values.get(f"grad_fn:{t.id}")) is not None:
            found[arrival(t.grad_fn, t.output_nr)] = norm
        elif (norm := values.get(f"{t.id}.grad")) is not None:
            found[t.id, "grad", 0] = norm
    return found


def as_it_is(document: Document) -> dict[Place, float]:
    """The `grad` of leaves before a pass."""
    leaves = ((t.id, norm_of(t.grad)) for t in document.tensors if t.grad_fn is None)
    return {(id, "grad", 0): norm for id, norm in leaves if norm is not None}


def together(known: Mapping[Place, float], places: Iterable[Place]) -> float | None:
    """The norm of several gradients as one vector; None if one of them is not known."""
    norms = [known.get(place) for place in places]
    there = [n for n in norms if n is not None]
    return math.hypot(*there) if norms and len(there) == len(norms) else None
