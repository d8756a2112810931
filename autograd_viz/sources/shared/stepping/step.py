"""One step of a backward pass as the document shows it: what arrived, the rules with their numbers, what changed.

# Note [When a step is read]
Texts and numbers are made when somebody reads the step, so the tensors that its node has left must not change until then.
- Gradients that only the engine has are kept as they are. Small saved tensors and grads are copied.
- A step is read at once if the user's code has seen its gradients (hooks, Functions, retain_grad, the first gradient), or
  others that share their memory.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from ....graph.model import Document, Formula, Node, Value
from ....graph.trace import NUMBERS, RULES, UNSAID, Accumulation, Change, Engine, HookRun, Jacobian, Step

Values = tuple[Value | None, ...]
Pair = tuple[Value | None, Value | None]  # before and after
Rules = tuple[tuple[Formula, ...], tuple[Jacobian, ...]]  # the rules that ran, and the local Jacobians
Place = tuple[str, Callable[[Any], Pair], Any]  # an address, and a function for its values before and now


def read_beside(
    things: Sequence[Any], others: Sequence[Any], values: Values, read: Callable[[Sequence[Any]], Values]
) -> Values:
    """`read` of each thing; a thing that is the same object as its neighbour in `others` shares its value."""
    if len(things) != len(others):
        return read(things)
    new = iter(read([t for t, o in zip(things, others, strict=True) if t is not o]))
    return tuple(v if t is o else next(new) for t, o, v in zip(things, others, values, strict=True))


@dataclass
class Ran:
    """The raw record of one call of a node; see Note [When a step is read]."""

    node: str  # its id
    arrived: Sequence[Any]
    left: Sequence[Any]  # arrived, left: the gradients that arrived, and those that left along next_functions
    result_shapes: tuple[tuple[int, ...] | None, ...]  # the shapes that the rules returned, before broadcasting was undone
    read: Callable[[Sequence[Any]], Values]  # makes values of gradients
    saved: Mapping[str, Callable[[], Value]]  # its saved tensors before the call, by name, as functions that read them
    rules: Callable[[Ran], Rules]  # writes the rules that ran, and the local Jacobians
    hooks: tuple[HookRun, ...] = ()
    edited: tuple[int, ...] = ()
    interpreted: float | None = None  # as in `trace.Step`
    unedited: Mapping[int, Value | None] = field(default_factory=dict)
    touched: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # by tensor id, snapshots of its grad before and after

    @cached_property
    def grad_outputs(self) -> Values:
        """What arrived."""
        return self.read(self.arrived)

    @cached_property
    def grad_inputs(self) -> Values:
        """What left."""
        return self.read(self.left)

    @cached_property
    def kept(self) -> dict[str, Value]:
        """The saved tensors that it had."""
        return {name: read() for name, read in self.saved.items()}

    def entered(self, index: int) -> Value | None:
        """What arrived at an output, before hooks."""
        seen = (h.before for h in self.hooks if h.kind in ("tensor", "pre") and h.index == index and h.before is not None)
        return next(seen, self.grad_outputs[index])

    def summed(self, index: int) -> Value | None:
        """What was sent to an output, before the user's edit."""
        return self.unedited[index] if index in self.unedited else self.entered(index)

    def grad(self, tensor: str) -> Pair:
        """A tensor's grad."""
        before, after = self.touched[tensor]
        return before.value(), after.value()

    def before_hooks(self, now: Any) -> Any:
        """What AccumulateGrad left in the grad that is this now: the input of the first post-accumulate hook."""
        return next((h.before for h in self.hooks if h.kind == "post_accumulate"), now)

    def accumulation(self, tensor: str) -> Accumulation | None:
        """What AccumulateGrad did, before post-accumulate hooks."""
        (old, now), arrived = self.grad(tensor), self.grad_outputs[0]
        made = self.before_hooks(now)
        return None if made is None or arrived is None else Accumulation(tensor, old, arrived, made)


class StepWriter:
    """Writes the steps of one pass."""

    def __init__(self, document: Document, keep_graph: bool) -> None:
        self.keep_graph = keep_graph
        self._nodes = {n.id: n for n in document.nodes}
        self._made_by = {t.id: t.grad_fn for t in document.tensors}
        (root,) = (t for t in document.tensors if t.id in document.roots)
        leaf = next((n.id for n in document.nodes if n.variable == root.id), None)
        self._root, self._start = root, (leaf, 0) if root.is_leaf else (root.grad_fn, root.output_nr)
        self._arrivals = {self._start: 1}
        self._sent: list[tuple[bool, ...]] = []

    def written(self, ran: Ran, freed: int, engine: Callable[[], Engine]) -> Step:
        """The step in the document's terms, written when it is read."""
        id, node = ran.node, self._nodes[ran.node]
        accumulated = self._accumulated(node, ran)
        places = [*self._arrived(ran), *self._grads(node, ran, accumulated), *self._left(node, ran)]
        if not self.keep_graph:
            places += [(f"{id}.saved.{name}", lambda name: (ran.kept[name], None), name) for name in ran.saved]

        write = partial(_numbers, ran, places, accumulated, freed, engine)
        rules = RULES, lambda: dict(zip(RULES, ran.rules(ran), strict=True))  # dear, and no answer reads them
        return Step.later(id, tuple([at for at, _, _ in places]), (NUMBERS, write), rules, UNSAID)

    def copied(self) -> StepWriter:
        """Another one, which knows the same of the steps so far."""
        other = copy.copy(self)
        other._arrivals, other._sent = dict(self._arrivals), list(self._sent)
        return other

    def take_back(self, node: str) -> None:
        """The node's step is taken back: what it sent has not arrived."""
        for after, sent in zip(self._nodes[node].next_functions, self._sent.pop(), strict=True):
            if after.node is not None and sent:
                self._arrivals[after.node, after.index] -= 1

    def _arrived(self, ran: Ran) -> list[Place]:
        """The sums of gradients before this node, and the first gradient at the root."""
        id, (node, index) = ran.node, self._start
        several = (i for i in range(len(ran.arrived)) if self._arrivals.get((id, i), 0) > 1)
        places: list[Place] = [(f"sum:{id}.{i}", lambda i: (None, ran.summed(i)), i) for i in several]
        if node == id and not self._root.is_leaf and self._arrivals[node, index] == 1:
            places.insert(0, (f"grad_fn:{self._root.id}", lambda i: (None, ran.entered(i)), index))
        return places

    def _accumulated(self, node: Node, ran: Ran) -> str | None:
        """The leaf to whose grad the node has added, if there is one."""
        leaf = node.variable
        if leaf is None or leaf not in ran.touched or self._made_by[leaf] is not None or ran.arrived[0] is None:
            return None
        return None if ran.before_hooks(ran.touched[leaf][1].grad) is None else leaf

    def _grads(self, node: Node, ran: Ran, accumulated: str | None) -> list[Place]:
        places: list[Place] = []
        for tensor in ran.touched:
            places.append((f"{tensor}.grad", ran.grad, tensor))
            if self._made_by[tensor] is not None:
                places.append((f"retain:{tensor}", ran.grad, tensor))
            elif tensor == accumulated:
                places.append((f"grad:{node.id}", lambda i: (None, ran.grad_outputs[i]), 0))
        return places

    def _left(self, node: Node, ran: Ran) -> list[Place]:
        places: list[Place] = []
        for i, (after, g) in enumerate(zip(node.next_functions, ran.left, strict=True)):
            if after.node is not None and g is not None:
                edge = (after.node, after.index)
                self._arrivals[edge] = self._arrivals.get(edge, 0) + 1
                places.append((f"next:{node.id}.{i}", lambda i: (None, ran.grad_inputs[i]), i))
        self._sent.append(tuple([g is not None for g in ran.left]))
        return places


def _numbers(
    ran: Ran, places: list[Place], accumulated: str | None, freed: int, engine: Callable[[], Engine]
) -> dict[str, Any]:
    changes = tuple([Change(at, *read(key)) for at, read, key in places])
    accumulation = None if accumulated is None else ran.accumulation(accumulated)
    numbers = (ran.grad_outputs, ran.grad_inputs, changes, accumulation, ran.result_shapes, engine(), freed)
    return dict(zip(NUMBERS, (*numbers, ran.hooks, ran.edited, ran.interpreted), strict=True))


MOST = 2**30  # bytes of gradients kept for unread steps; above that, all these steps are read

Span = tuple[int, int]  # of a gradient: the address of its memory, and its bytes


class Unread:
    """The memory that unread steps of one pass depend on."""

    def __init__(self) -> None:
        self._steps: dict[int, list[Step]] = {}  # by address
        self._shown: set[int] = set()  # addresses that the user's code may hold
        self._bytes = 0

    def add(self, step: Step, places: Iterable[Span]) -> None:
        """Add a step. It is read at once if the user's code may change its gradients."""
        places = list(places)
        if not self._shown.isdisjoint([at for at, _ in places]):
            read([step])
            return
        for at, size in places:
            self._bytes += 0 if at in self._steps else size
            self._steps.setdefault(at, []).append(step)
        if self._bytes > MOST:
            for steps in self._steps.values():
                read(steps)
            self._steps, self._bytes = {}, 0

    def show(self, places: Iterable[Span]) -> None:
        """The user's code is about to get these gradients: steps that depend on the same memory are read first."""
        for at, _ in places:
            self._shown.add(at)
            read(self._steps.pop(at, ()))


def read(steps: Iterable[Step]) -> None:
    """Let steps write their numbers."""
    for step in steps:
        _ = step.changes, step.formulas
