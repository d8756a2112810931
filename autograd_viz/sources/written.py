"""One step of a backward pass in the document's terms: what arrived, which rules ran on which numbers, what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..graph.model import Document, Formula, Value
from ..graph.trace import Accumulation, Change, HookRun, Jacobian, Step

Values = tuple[Value | None, ...]


def read_beside(
    things: Sequence[Any], others: Sequence[Any], values: Values, read: Callable[[Sequence[Any]], Values]
) -> Values:
    """What `read` makes of each thing; one that is the same object as its neighbour among `others` has its value."""
    if len(things) != len(others):
        return read(things)
    new = iter(read([t for t, o in zip(things, others, strict=True) if t is not o]))
    return tuple(v if t is o else next(new) for t, o, v in zip(things, others, values, strict=True))


@dataclass
class Ran:
    """What happened when one node was called.

    Attributes:
        node: its id.
        grad_outputs, grad_inputs: what arrived, and what left along next_functions.
        result_shapes: the shapes that the rules returned, before broadcasting was undone.
        grads: by tensor id, its grad before and after.
        saved: saved tensors that it had before, by name.
    """

    node: str
    grad_outputs: Values
    grad_inputs: Values
    result_shapes: tuple[tuple[int, ...] | None, ...]
    grads: Mapping[str, tuple[Value | None, Value | None]]
    saved: Mapping[str, Value]
    formulas: tuple[Formula, ...] = ()
    hooks: tuple[HookRun, ...] = ()
    jacobians: tuple[Jacobian, ...] = ()
    edited: tuple[int, ...] = field(default=())
    unedited: Mapping[int, Value | None] = field(default_factory=dict)

    def entered(self, index: int) -> Value | None:
        """What entered at an output, before hooks."""
        seen = (h.before for h in self.hooks if h.kind in ("tensor", "pre") and h.index == index and h.before is not None)
        return next(seen, self.grad_outputs[index])

    def met(self, index: int) -> Value | None:
        """What had arrived there before the user changed it: the sum of what was sent."""
        return self.unedited[index] if index in self.unedited else self.entered(index)

    def added_up(self, now: Value | None) -> Value | None:
        """What AccumulateGrad left in a grad, before post-accumulate hooks."""
        return next((h.before for h in self.hooks if h.kind == "post_accumulate"), now)


class StepWriter:
    """Writes down the steps of one pass.

    Args:
        document: the graph before the pass, which starts at its only root.
        keep_graph: saved tensors are not freed.
    """

    def __init__(self, document: Document, keep_graph: bool) -> None:
        self.keep_graph = keep_graph
        self._nodes = {n.id: n for n in document.nodes}
        self._made_by = {t.id: t.grad_fn for t in document.tensors}
        (root,) = (t for t in document.tensors if t.id in document.roots)
        self._root = root
        leaf = next((n.id for n in document.nodes if n.variable == root.id), None)
        self._start = (leaf, 0) if root.is_leaf else (root.grad_fn, root.output_nr)
        self._arrivals = {self._start: 1}
        self._sent: list[tuple[bool, ...]] = []

    def written(self, ran: Ran) -> Step:
        """The step in the document's terms."""
        id, node = ran.node, self._nodes[ran.node]
        changes = self._arrived(ran)
        accumulation = None
        for at, (before, now) in ran.grads.items():
            changes.append(Change(f"{at}.grad", before, now))
            arrived = ran.grad_outputs[0]
            if self._made_by[at] is not None:
                changes.append(Change(f"retain:{at}", before, now))
            elif at == node.variable and arrived is not None and (made := ran.added_up(now)) is not None:
                changes.append(Change(f"grad:{id}", None, arrived))
                accumulation = Accumulation(at, before, arrived, made)
        for i, (after, g) in enumerate(zip(node.next_functions, ran.grad_inputs, strict=True)):
            if after.node is not None:
                edge = (after.node, after.index)
                self._arrivals[edge] = self._arrivals.get(edge, 0) + (g is not None)
                changes += [Change(f"next:{id}.{i}", None, g)] if g is not None else []
        self._sent.append(tuple(g is not None for g in ran.grad_inputs))
        if not self.keep_graph:
            changes += [Change(f"{id}.saved.{name}", value, None) for name, value in ran.saved.items()]
        return Step(
            id, "", ran.grad_outputs, ran.grad_inputs, ran.formulas, tuple(changes), accumulation, ran.result_shapes,
            hooks=ran.hooks, jacobians=ran.jacobians, edited=ran.edited,
        )  # fmt: skip

    def take_back(self, node: str) -> None:
        """The node's step is taken back: what it sent has not arrived."""
        for after, sent in zip(self._nodes[node].next_functions, self._sent.pop(), strict=True):
            if after.node is not None and sent:
                self._arrivals[after.node, after.index] -= 1

    def _arrived(self, ran: Ran) -> list[Change]:
        """Where gradients met before this node, and the first gradient at the root."""
        changes, id = [], ran.node
        node, index = self._start
        if node == id and not self._root.is_leaf and self._arrivals[node, index] == 1:
            changes.append(Change(f"grad_fn:{self._root.id}", None, ran.entered(index)))
        several = (i for i in range(len(ran.grad_outputs)) if self._arrivals.get((id, i), 0) > 1)
        return changes + [Change(f"sum:{id}.{i}", None, ran.met(i)) for i in several]
