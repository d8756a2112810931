"""What is drawn of a document, and how a pass through the whole document is shown there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from .groups import Group
from .model import Document
from .trace import Engine, NamedRule, State, Step

MANY = 24  # edges on one side of a box: a reader can tell so many apart


class Thinned(NamedTuple):
    """A node with bundled edges: which output, and which edge, each drawn one stands for; None if for several."""

    outputs: tuple[int | None, ...]
    edges: tuple[int | None, ...]


@dataclass(frozen=True)
class Collapsed:
    """What is drawn of a document."""

    document: Document  # with groups in place of what they hide
    whole: Document  # the document itself
    shown: Mapping[str, str]  # id of a hidden op or node -> id of the group's op or node
    moved: Mapping[str, str]  # address of an edge that ends or begins in a group -> address of the drawn edge
    groups: Mapping[str, Group]  # each drawn group, by the id of its op
    thinned: Mapping[str, Thinned] = field(default_factory=dict)  # the nodes with bundled edges, by id
    first: Mapping[str, str] = field(default_factory=dict)  # by box, the node of it that runs first, where that is known

    def state(self, state: State) -> State:
        """A state of the whole document, as this one shows it."""
        if not self.moved:
            return state
        values = {at: value for old, value in state.values.items() if self._tells(at := self.moved.get(old, old))}
        called: Counter[str] = Counter()
        for node, times in state.called.items():
            called[self.shown.get(node, node)] += times
        return State(values, self.step(state.current) if state.current else None, self.hidden(state.hidden), called)

    def step(self, step: Step) -> Step:
        """The step as it is shown. That of a hidden node becomes one of its group: it keeps its sentence, formulas and rules as
        text, and loses its other numbers. That of a thinned node keeps the numbers that have a place of their own.
        """
        if not self.moved and not self.shown:
            return step
        moved = (replace(c, at=self.moved.get(c.at, c.at)) for c in step.changes)
        changes = tuple(c for c in moved if self._tells(c.at))
        if step.node not in self.shown:
            return replace(self._fewer(step), changes=changes, engine=self.engine(step.engine))
        return Step(
            self.shown[step.node], step.sentence, formulas=step.formulas, changes=changes, engine=self.engine(step.engine),
            freed=step.freed, flags=step.flags, named=tuple([NamedRule(rule.text) for rule in step.named]),
        )  # fmt: skip

    def _fewer(self, step: Step) -> Step:
        if (thinned := self.thinned.get(step.node)) is None:
            return step
        ways = ((thinned.outputs, step.grad_outputs), (thinned.edges, step.grad_inputs))
        arrived, left = (tuple(None if i is None or i >= len(all) else all[i] for i in places) for places, all in ways)
        edited = tuple(k for k, i in enumerate(thinned.outputs) if i in step.edited)
        return replace(
            step, grad_outputs=arrived, grad_inputs=left, edited=edited, formulas=step.formulas[:MANY], result_shapes=(),
            jacobians=step.jacobians[:MANY], named=tuple([NamedRule(rule.text) for rule in step.named[:MANY]]),
        )  # fmt: skip

    def engine(self, engine: Engine) -> Engine:
        """The engine as it is shown: groups stand in the queue for their nodes; their waiting nodes are left out."""
        queue = tuple(dict.fromkeys(self.shown.get(n, n) for n in engine.queue))
        return replace(engine, queue=queue, waiting=tuple(w for w in engine.waiting if w.node not in self.shown))

    def _tells(self, at: str) -> bool:
        """Is a number shown there? An arrow of several gradients shows none, as each is only a part."""
        return at not in self._shared and self.draws(at)

    @cached_property
    def _shared(self) -> frozenset[str]:
        return frozenset(at for at, count in Counter(self.moved.values()).items() if count > 1)

    def draws(self, at: str) -> bool:
        """Is there an element at an address (trace.py, Note [Addresses])?"""
        return at.rpartition(":")[2].partition(".")[0] in self._drawn

    def hides(self, id: str) -> Group | None:
        """The group that hides an op, node or tensor; None if it is drawn itself, or never has a box."""
        may_hide = id in self.shown or id not in self._drawn
        inside = (op for op in self.whole.ops if may_hide and op.id in self.shown)
        found = (op for op in inside if id in (op.id, op.node, *op.outputs, *(i.tensor for i in op.inputs)))
        return next((self.groups[self.shown[op.id]] for op in found), None)

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Ids of all nodes of the whole document."""
        return frozenset(n.id for n in self.whole.nodes)

    def first_node(self, id: str) -> str:
        """The first node of a group to run: it was made last. `id` is the group's op or node; any other id stays."""
        if id in self.nodes or id in self.first:
            return self.first.get(id, id)
        inside = [n for n in self.whole.nodes if self.shown.get(n.id) == id or self.shown.get(n.op or "") == id]
        return max(inside, key=lambda n: -1 if n.order is None else n.order).id if inside else id

    @cached_property
    def _drawn(self) -> frozenset[str]:
        return frozenset(x.id for all in (self.document.tensors, self.document.nodes) for x in all)

    def hidden(self, ids: frozenset[str]) -> frozenset[str]:
        """The ids of what does not exist yet. A group exists as soon as one of its ops does."""
        there = {box for id, box in self.shown.items() if id not in ids}
        return ids - self.shown.keys() | {box for id, box in self.shown.items() if id in ids} - there if ids else ids
