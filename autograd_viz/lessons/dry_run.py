"""A dry run: a backward pass that runs for its answer and is then undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..graph.model import Document, Node, Op, Tensor, Value
from ..graph.trace import Step, Trace
from ..sources import anything
from ..stepper.stepper import Stepper


@dataclass(frozen=True, slots=True)
class DryRun:
    """The graph before a pass, and all steps of the pass."""

    document: Document
    trace: Trace
    subjects: tuple[str | None, ...]  # ids of the tensors of the question; None for a tensor outside the graph

    def grad(self, tensor: str) -> Value | None:
        """The grad of a tensor at the end."""
        found = [c.after for s in self.trace.steps for c in s.changes if c.at == f"{tensor}.grad"]
        return found[-1] if found else tensor_of(self.document, tensor).grad

    def arrivals(self, tensor: str) -> list[tuple[Step, Value]]:
        """The gradients sent to a tensor's node, and the step of each."""
        targets = {n.id for n in self.document.nodes if n.variable == tensor} | {tensor_of(self.document, tensor).grad_fn}
        ends = {n.id: n.next_functions for n in self.document.nodes}
        sent = ((step, *both) for step in self.trace.steps for both in zip(ends[step.node], step.grad_inputs, strict=False))
        return [(step, g) for step, after, g in sent if after.node in targets - {None} and g is not None]


def dry_run_of(root: Any, gradient: Any, subjects: tuple[Any, ...], variables: Mapping[str, Any]) -> DryRun:
    """Run ``root.backward(gradient)`` for real, with the user's hooks, and undo it: each grad is restored."""
    graph = anything.graph_of(root, variables)
    live = anything.pass_of(graph, root, gradient, None, False)
    live.shows_jacobians = False
    stepper = Stepper(graph.document, live)
    with stepper.untouched():
        try:
            stepper.finish()
            return DryRun(graph.document, stepper.trace, tuple(live.id_of(t) for t in subjects))
        finally:
            stepper.reset()


def tensor_of(document: Document, id: str) -> Tensor:
    """The tensor with an id."""
    return next(t for t in document.tensors if t.id == id)


def colour_of(t: Tensor) -> str:
    """green, yellow or brown."""
    return "brown" if not t.is_leaf else "green" if t.requires_grad else "yellow"


def maker_of(document: Document, tensor: str) -> Op | None:
    """The op that made a tensor, if it is known."""
    return next((op for op in document.ops if tensor in op.outputs), None)


def labels(document: Document) -> dict[str, str]:
    """A unique label of each node: `MulBackward0 (c)`."""
    names, ops = {t.id: t.name for t in document.tensors}, {op.id: op for op in document.ops}
    found = {}
    for node in document.nodes:
        op = ops.get(node.op or "")
        mine = [node.variable] if node.variable else op.outputs if op else []
        words = ", ".join(n for t in mine if (n := names.get(t or ""))) or written(op)
        found[node.id] = f"{node.name} ({words})" if words else node.name
    return found


def written(op: Op | None) -> str:
    """The expression that ran, if it fits in one line."""
    return op.source.expression if op and op.source else ""


def node_named(document: Document, id: str) -> Node:
    """The node with an id."""
    return next(n for n in document.nodes if n.id == id)
