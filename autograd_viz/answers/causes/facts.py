"""A document and the numbers of its last pass, indexed for questions about one tensor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ...graph.model import Document, Op, Tensor, Value
from ...graph.surroundings import Source
from ..sentences import PROPERTIES
from .numbers import added, is_known, nearly
from .paths import closure

if TYPE_CHECKING:
    from .history import Live

T = TypeVar("T")
MOST_VIEWS = 5  # views that are followed to find a name
Edge = tuple[str, int]  # a node, and which output of its op


def takes_the_shape(op: Op) -> bool:
    """`zeros_like(x)`: it uses the shape of x, and no values."""
    return op.name.replace("_", "").lower().endswith("like")


def _with_value(tensor: Tensor, saved: Value | None) -> Tensor:
    """The tensor with its value, if only a node has saved it."""
    return replace(tensor, value=saved) if saved is not None and is_known(saved) and not is_known(tensor.value) else tensor


class Facts:
    """What is known about one tensor's gradient.

    Args:
        document, subject: a graph, and the id of a tensor that it holds.
        past: the numbers of the last pass, by address (graph/trace.py). `arrived:n2.0` is the gradient at output 0 of n2
            after its hooks, if that is known.
        live: what only the live graph knows; None for a document from a file, whose graph is all that is asked.
        loss: ids of the roots from which the gradient should come; empty if unknown.
        is_changed: the pass was run again with leaves that have changed since, so its numbers differ from the original ones.

    Attributes:
        edge: where the subject's gradient arrives; None if nowhere.
        pass_nodes: the nodes that a pass from the loss calls.
        senders: which next_functions lead to an edge.
    """

    def __init__(
        self,
        document: Document,
        subject: str,
        past: Mapping[str, Value | None],
        live: Any,
        loss: tuple[str, ...] = (),
        is_changed: bool = False,
    ) -> None:
        self.document, self.past, self.loss, self.is_changed = document, past, loss, is_changed
        self.live: Live = live
        self._found: dict[Any, Any] = {}
        saved = {s.tensor: s.value for n in document.nodes for s in n.saved if s.tensor is not None and not s.stale}
        self.tensors = {t.id: _with_value(t, saved.get(t.id)) for t in document.tensors}
        self.nodes = {n.id: n for n in document.nodes}
        self.ops = {o.id: o for o in document.ops}
        self.makers: dict[str, Op] = {id: o for o in document.ops for id in o.outputs if id is not None}
        self.users: dict[str, list[Op]] = {}
        for op in document.ops:
            for operand in dict.fromkeys(o.tensor for o in op.inputs if o.tensor is not None):
                self.users.setdefault(operand, []).append(op)
        self._accumulators = {n.variable: n.id for n in document.nodes if n.variable is not None}
        self.subject = self.tensors[subject]
        self.edge = self.edge_of(subject)
        self.starts = [e for e in map(self.edge_of, loss) if e is not None]
        self.pass_nodes = self.downstream(node for node, _ in self.starts)
        self.senders: dict[Edge, list[tuple[str, int]]] = {}
        for id in self.pass_nodes:
            for i, after in enumerate(self.nodes[id].next_functions):
                if after.node is not None:
                    self.senders.setdefault((after.node, after.index), []).append((id, i))

    def once(self, find: Callable[[Facts], T]) -> T:
        """What a search of the whole graph finds, for all tensors that are asked about; it runs once."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    def about(self, tensor: str) -> Facts:
        """The same facts about another tensor."""
        other = copy(self)
        other.subject, other.edge = self.tensors[tensor], self.edge_of(tensor)
        return other

    def as_arrived(self) -> Facts:
        """The same facts, as if the subject's grad were what the last pass brought."""
        other = copy(self)
        other.subject = replace(self.subject, grad=self.arrived_last)
        return other

    def operands(self, tensor: str) -> list[str]:
        """The tensors whose values its op has used."""
        op = self.makers.get(tensor)
        return [] if op is None or takes_the_shape(op) else [o.tensor for o in op.inputs if o.tensor is not None]

    @cached_property
    def behind_loss(self) -> dict[str, None]:
        """The tensors that the loss was made from, and the loss itself. Paths through detached tensors count."""
        return closure(self.loss, self.operands)

    def edge_of(self, tensor: str) -> Edge | None:
        """Where the gradient of a tensor arrives: its grad_fn, or a leaf's AccumulateGrad."""
        t = self.tensors[tensor]
        node = self._accumulators.get(tensor) if t.is_leaf else t.grad_fn
        return None if node is None else (node, 0 if t.is_leaf else t.output_nr)

    def downstream(self, starts: Iterable[str]) -> dict[str, None]:
        """These nodes, and all nodes that can be reached along next_functions."""
        return closure(starts, self.ways_on)

    def sides(self, node: str) -> list[str | None]:
        """The nodes behind its inputs; None for data."""
        return [a.node for a in self.nodes[node].next_functions]

    def ways_on(self, node: str) -> list[str]:
        """The nodes behind its inputs, without data."""
        return [a.node for a in self.nodes[node].next_functions if a.node is not None]

    def first(self, node: str | None) -> str | None:
        """The node behind its first input; None for data."""
        return None if node is None else next(iter(self.sides(node)), None)

    def takers(self, node: str) -> list[str]:
        """The nodes whose ops took its results."""
        return [s for e in self.edges_at(node) for s, _ in self.senders.get(e, ())]

    def edges_at(self, node: str) -> list[Edge]:
        """The outputs of the node's op, where gradients arrive."""
        return [(node, i) for i in range(self.nodes[node].outputs)]

    def leading(self, edge: Edge) -> dict[str, None]:
        """The nodes of the pass whose gradients end up there, the nearest first."""
        found: dict[str, None] = {}
        queue = deque([edge])
        while queue:
            for sender, _ in self.senders.get(queue.popleft(), ()):
                if sender not in found:
                    found[sender] = None
                    queue += self.edges_at(sender)
        return found

    @property
    def is_recorded(self) -> bool:
        """Has a recorder seen ops of the graph run?"""
        return any(not op.reconstructed for op in self.document.ops)

    @property
    def is_connected(self) -> bool:
        """Does a gradient of the loss arrive at the subject?"""
        return self.edge is not None and (self.edge in self.senders or self.edge in self.starts)

    def sent(self, node: str, index: int) -> Value | None:
        """What went along next_functions[index]; None if nothing did, or if unknown."""
        return self.past.get(f"next:{node}.{index}")

    def sent_along(self, edge: Edge) -> dict[Edge, Value | None]:
        """What each sender sent to an edge; None if unknown. Senders that are known to have sent nothing are left out."""
        arrived = self.arrived(*edge)
        would_be_kept = arrived is not None and bool(arrived.numbers)  # if it has few elements, so do all its parts
        sent = {(n, i): self.sent(n, i) for n, i in self.senders.get(edge, ())}
        return {s: v for s, v in sent.items() if v is not None or not (would_be_kept and self.live.has_run(s[0]))}

    def arrived(self, node: str, index: int = 0) -> Value | None:
        """What arrived at an output of the node's op, in total."""
        for at in (f"arrived:{node}.{index}", f"sum:{node}.{index}", f"grad:{node}"):
            if self.past.get(at) is not None:
                return self.past[at]
        for root in self.loss:
            if self.edge_of(root) == (node, index) and self.past.get(f"grad_fn:{root}") is not None:
                return self.past[f"grad_fn:{root}"]
        sent = [v for s, i in self.senders.get((node, index), ()) if (v := self.sent(s, i)) is not None]
        return sent[0] if len(sent) == 1 == len(self.senders[node, index]) else None

    @property
    def arrived_last(self) -> Value | None:
        """What arrived at the subject in the last pass."""
        return None if self.edge is None else self.arrived(*self.edge)

    @property
    def before(self) -> Value | None:
        """The subject's grad before the last pass reached it, if a stepper has seen it: then the key is there."""
        return None if self.edge is None else self.past.get(f"before:{self.edge[0]}")

    @property
    def comes_from_elsewhere(self) -> bool:
        """Did another graph send what arrived last at the subject? No hook has changed it."""
        if self.edge is None or self.edge in self.starts or self.live.hooks(self.edge[0]):
            return False
        met, arrived = self.met(self.edge), self.arrived(*self.edge)
        return met is not None and arrived is not None and not nearly(met.numbers, arrived.numbers or met.numbers)

    def arrivals(self, node: str) -> list[Value]:
        """All known gradients that arrived at the node."""
        return [v for e in self.edges_at(node) if (v := self.arrived(*e)) is not None]

    def holds(self, name: str, node: str) -> bool:
        """Did a gradient arrive at the node that is all zero ("zero"), or has a nan ("nan") or inf ("inf")?"""
        return any(map(PROPERTIES[name], self.arrivals(node)))

    @cached_property
    def changed_since(self) -> dict[str, tuple[str, str]]:
        """Modified saved tensors: the node, and the name of the saved tensor."""
        return {s.tensor: (n.id, s.name) for n in self.document.nodes for s in n.saved if s.stale and s.tensor is not None}

    def op(self, node: str) -> Op | None:
        """The forward op of a node."""
        return self.ops.get(self.nodes[node].op or "")

    def source(self, node: str) -> Source | None:
        """The line of the op. For AccumulateGrad, the line that made the leaf."""
        op, n = self.op(node), self.nodes[node]
        return op.source if op is not None else self.tensors[n.variable].source if n.variable is not None else None

    def met(self, edge: Edge) -> Value | None:
        """The sum of what was sent to an edge, before hooks, if there are few elements."""
        sent = [self.sent(*s) for s in self.senders.get(edge, ())]
        known = [v for v in sent if v is not None]
        total = added(known) if len(known) == len(sent) else None
        return None if total is None else replace(known[0], numbers=total, text="")

    def inputs(self, node: str) -> list[Tensor]:
        """The tensors among the inputs of a node's op."""
        return self.inputs_of(self.op(node))

    def inputs_of(self, op: Op | None) -> list[Tensor]:
        """The tensors among an op's inputs."""
        return [] if op is None else [self.tensors[o.tensor] for o in op.inputs if o.tensor is not None]

    def input(self, node: str, index: int = 0) -> Value | None:
        """The value of an input tensor: its own, or the one that the node has saved; None if unknown."""
        given = self.inputs(node)[index : index + 1]
        value = given[0].value if given and given[0].id not in self.changed_since else None
        return value if is_known(value) else self.saved(node, *(("self", "input", "mat1") if index == 0 else ("other", "mat2")))

    def result(self, node: str) -> Value | None:
        """The value of the op's first result; None if unknown."""
        results = self.results(node)
        value = results[0].value if results else None
        return value if is_known(value) else self.saved(node, "result", "result0", "output")

    def saved(self, node: str, *names: str) -> Value | None:
        """The value that a node has saved under the first of these names; None if unknown."""
        return next((s.value for s in self.nodes[node].saved if s.name in names and is_known(s.value)), None)

    def others(self, node: str, index: int) -> list[Tensor]:
        """The op's other input tensors: without the one whose gradient leaves along next_functions[index]."""
        wanted, inputs = self.nodes[node].next_functions[index], self.inputs(node)
        own = next((k for k, t in enumerate(inputs) if self.edge_of(t.id) == (wanted.node, wanted.index)), None)
        return [t for k, t in enumerate(inputs) if k != own]

    def results(self, node: str) -> list[Tensor]:
        """The op's results that still exist."""
        op = self.op(node)
        return [] if op is None else [self.tensors[id] for id in op.outputs if id is not None]

    def shape(self, node: str) -> tuple[int, ...]:
        """The shape of the op's first result; () if it is gone."""
        return next((t.value.shape for t in self.results(node)), ())

    def plain(self, node: str, name: str) -> str:
        """A plain saved value by its text; "" if there is none."""
        return next((s.text for s in self.nodes[node].saved if s.name == name and s.state == "plain"), "")

    def name_of(self, tensor: str) -> str:
        """The user's name of a tensor, or of the base of a view; "" if it has none."""
        for _ in range(MOST_VIEWS):
            t, maker = self.tensors[tensor], self.makers.get(tensor)
            if t.name or maker is None or len(maker.inputs) != 1 or maker.inputs[0].tensor is None:
                return t.name or ""
            tensor = maker.inputs[0].tensor
        return ""

    def called(self, node: str) -> str:
        """The class name of a node."""
        return self.nodes[node].name
