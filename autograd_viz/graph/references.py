"""Checks that the parts of a document and a trace from a file fit each other. Drawing and stepping rely on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TypeVar

from ..errors import DocumentError
from .limits import DEPTH, SAID
from .model import Document, Node, Op, Tensor
from .order import has_circle, reached_from
from .trace import Engine, Step, Trace

Thing = TypeVar("Thing", Tensor, Op, Node)
# trace.py, Note [Addresses]
ADDRESS = re.compile(
    r"(t\d+)\.grad|(n\d+)\.saved\..*|(?:grad_fn|retain):(t\d+)|grad:(n\d+)|(next|sum):(n\d+)\.(\d{1,9})", re.DOTALL
)


def check_references(document: Document, trace: Trace) -> None:
    """Refuse duplicate ids, ids that name nothing, counts and indices that do not fit, and cycles. DocumentError says which."""
    parts = _Parts(document)
    parts.check()
    called = set[str]()
    reached = reached_from(parts.nodes, parts.starts())
    for k, step in enumerate(trace.steps, 1):
        parts.check_step(f"step {k}", step)
        if step.node not in reached or step.node in called:
            raise DocumentError(f"step {k} calls {step.node}, {'again' if step.node in called else 'which no root reaches'}")
        called.add(step.node)
        parts.check_engine(step.engine)
    parts.check_engine(trace.start)


class _Parts:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.tensors = _by_id("tensor", document.tensors)
        self.ops = _by_id("op", document.ops)
        self.nodes = _by_id("node", document.nodes)
        self.leaves: dict[str, Node] = {}

    def check(self) -> None:
        makers, taken = self._makers(), dict[tuple[str, int], str]()
        for place, op in enumerate(self.document.ops):
            self._check_op(op, place, makers)
        for node in self.document.nodes:
            self._check_node(node, makers)
        for t in self.document.tensors:
            _known(f"tensor {t.id}", self.tensors, t.shares)
            if t.grad_fn is not None:
                self._check_output(f"tensor {t.id}", t.grad_fn, t.output_nr)
                is_drawn = self.nodes[t.grad_fn].entries  # no node of a file has entries: only groups and bundles have them
                if not is_drawn and taken.setdefault((t.grad_fn, t.output_nr), t.id) != t.id:
                    raise DocumentError(f"tensor {t.id} and {taken[t.grad_fn, t.output_nr]} are the same output of {t.grad_fn}")
        _known("a statement", self.tensors, (s.tensor for s in self.document.statements))
        _known("the roots", self.tensors, self.document.roots)
        if has_circle(self.nodes):
            raise DocumentError("the backward graph has a cycle")
        self._check_said()
        self._check_calls()
        paths = [m.path for m in self.document.modules]
        if len(set(paths)) < len(paths):
            raise DocumentError("a module appears twice")

    def starts(self) -> list[str]:
        ends = [self.leaves[r].id if r in self.leaves else self.tensors[r].grad_fn for r in self.document.roots]
        return [start for start in ends if start is not None]

    def _makers(self) -> dict[str, int]:
        makers: dict[str, int] = {}
        for place, op in enumerate(self.document.ops):
            _known(f"op {op.id}", self.tensors, op.outputs)
            for t in (t for t in op.outputs if t is not None):
                if t in makers:
                    raise DocumentError(f"tensor {t} is an output of two ops; the second is {op.id}")
                makers[t] = place
        return makers

    def _check_op(self, op: Op, place: int, makers: Mapping[str, int]) -> None:
        inputs = [i.tensor for i in op.inputs if i.tensor is not None]
        _known(f"op {op.id}", self.tensors, inputs)
        if late := next((t for t in inputs if makers.get(t, -1) >= place), None):
            raise DocumentError(f"op {op.id} uses tensor {late} before it is computed")
        _known(f"op {op.id}", self.nodes, [op.node])
        if op.node is not None and self.nodes[op.node].op != op.id:
            raise DocumentError(f"op {op.id} names node {op.node}, which belongs to another op")

    def _check_node(self, n: Node, makers: Mapping[str, int]) -> None:
        where = f"node {n.id}"
        for f in n.next_functions:
            if f.node is not None:
                self._check_output(where, f.node, f.index)
        _known(where, self.tensors, (n.variable, *(s.tensor for s in n.saved)))
        _known(where, self.ops, [n.op])
        if n.op is not None and self.ops[n.op].node != n.id:
            raise DocumentError(f"{where} names op {n.op}, which has another node")
        if not n.entries and n.outputs > max(1, 0 if n.op is None else len(self.ops[n.op].outputs)):
            raise DocumentError(f"{where} has {n.outputs} outputs, but its op has fewer")
        if n.variable is not None:
            self._check_leaf(where, n, self.tensors[n.variable], makers)

    def _check_leaf(self, where: str, n: Node, leaf: Tensor, makers: Mapping[str, int]) -> None:
        if n.op is not None or n.next_functions:
            raise DocumentError(f"{where} accumulates into {leaf.id}, but has an op or next_functions")
        if leaf.id in self.leaves or (leaf.id in makers and not (leaf.is_leaf and leaf.requires_grad)):
            raise DocumentError(f"{where} accumulates into {leaf.id}, which has another node or is not a leaf")
        self.leaves[leaf.id] = n

    def _check_output(self, where: str, node: str, index: int) -> None:
        _known(where, self.nodes, [node])
        if index >= self.nodes[node].outputs:
            raise DocumentError(f"{where} names output {index} of {node}, which has {self.nodes[node].outputs}")

    def _check_calls(self) -> None:
        """Check that calls nest, and not too deep."""
        depths: list[int] = []
        for k, call in enumerate(self.document.calls):
            if call.above is not None and call.above >= k:
                raise DocumentError(f"call {k} is in call {call.above}, which does not come before it")
            depths.append(1 if call.above is None else depths[call.above] + 1)
        if max(depths, default=0) > DEPTH:
            raise DocumentError(f"calls nest more than {DEPTH} deep")
        if wrong := next((o for o in self.document.ops if o.call is not None and o.call >= len(depths)), None):
            raise DocumentError(f"op {wrong.id} names call {wrong.call}, which does not exist")

    def _check_said(self) -> None:
        """Check the length of all names: sentences and pictures repeat a name wherever they use it."""
        names = {t.id: len(t.name or "") for t in self.document.tensors} | {n.id: len(n.name) for n in self.document.nodes}
        said = sum(len(i.text) if i.tensor is None else names[i.tensor] for o in self.document.ops for i in o.inputs)
        said += sum(names[t] for o in self.document.ops for t in o.outputs if t is not None)
        said += sum(names[f.node] for n in self.document.nodes for f in n.next_functions if f.node is not None)
        if said > SAID:
            raise DocumentError(f"the names of this document need {said:,} characters; the limit is {SAID:,}")

    def check_step(self, where: str, step: Step) -> None:
        _known(where, self.nodes, [step.node])
        node, edges, count = self.nodes[step.node], len(step.grad_inputs), len(step.grad_outputs)
        if edges != (ends := len(node.next_functions)):
            raise DocumentError(f"{where} has {edges} grad_inputs, but {step.node} has {ends} next_functions")
        if len(step.result_shapes) not in (0, edges):
            raise DocumentError(f"{where} has {len(step.result_shapes)} result_shapes for {edges} grad_inputs")
        if count != node.outputs:
            raise DocumentError(f"{where} has {count} grad_outputs, but {step.node} has {node.outputs} outputs")
        _known(where, self.tensors, [step.accumulation.tensor if step.accumulation else None])
        for change in step.changes:
            self._check_address(where, change.at)

    def _check_address(self, where: str, at: str) -> None:
        found = ADDRESS.fullmatch(at)
        if found is None:
            raise DocumentError(f"{where} changes {at!r:.40}, which is not an address")
        grad, saved, output, leaf, kind, node, index = found.groups()
        _known(where, self.tensors, (grad, output))
        _known(where, self.nodes, (saved, leaf, node))
        count = 0 if node is None else self.nodes[node].outputs if kind == "sum" else len(self.nodes[node].next_functions)
        if node is not None and int(index) >= count:
            raise DocumentError(f"{where} changes {at!r:.40}, which does not exist")

    def check_engine(self, engine: Engine) -> None:
        _known("the engine", self.nodes, chain(engine.queue, (w.node for w in engine.waiting)))


def _by_id(kind: str, things: Iterable[Thing]) -> dict[str, Thing]:
    found: dict[str, Thing] = {}
    for thing in things:
        if found.setdefault(thing.id, thing) is not thing:
            raise DocumentError(f"{kind} {thing.id} appears twice")
    return found


def _known(where: str, known: Mapping[str, object], ids: Iterable[str | None]) -> None:
    for id in ids:
        if id is not None and id not in known:
            raise DocumentError(f"{where} names {id!r:.40}, which does not exist")
