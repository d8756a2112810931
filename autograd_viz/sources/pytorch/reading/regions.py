"""A compiled region, opened: a node for each op of its forward pass, read from the region's backward graph.

# Note [How a region is opened]
`aot_autograd` traces autograd, and each op of its backward graph has the sequence number of a forward op. Neighbours with one
number are the rule of that op, and become one node. So a node of the picture leads where the node without compilation would.
- The region's own node stays. Gradients arrive there, and it sends them to the first of these nodes.
- An op that needs no gradient is computed again from what is saved. It belongs to the first node that reads it.
- A sum of gradients that arrive at one tensor is no node: several edges lead there, as in an eager graph.
Numbers of these nodes lie between that of the region and the one before, so that they run in the order of the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from . import compiled
from .nodes import outputs_of
from .region_op import Again, RegionOp, look_of
from .saved import SavedValue, saved_of

SUM = "GradientSum"  # of gradients that leave the region for one tensor
TURNING = {"t", "transpose"}  # the rule of such an op is the op itself


class Region:
    """A region that is open.

    Attributes:
        node: its own node, at which gradients arrive.
        module: its backward graph, `torch.fx.GraphModule`.
        ops: its nodes.
        again, results, leaves, next_functions: as of a `RegionOp`, for what the region's own node sends.
    """

    def __init__(self, node: Any, module: Any, ends: list[Any]) -> None:
        self.node, self.module = node, module
        self._graph = {n: i for i, n in enumerate(module.graph.nodes)}
        self._moving = _moving(self._graph)
        self._kept = dict(zip(self._placeholders(), _kept_by(node), strict=False))
        shapes = [getattr(k.value, "shape", ()) for k in self._kept.values()]
        self._sizes = compiled.known_sizes(node, module.graph, [*shapes, *(m.shape for m in outputs_of(node))])
        leaving = {e for e in ends if e is not None}
        self._sums = {n for n in self._moving if compiled.is_sum(n) and n not in leaving}
        names = _forward_names(node, self._graph)
        self.ops = self._made(self._grouped(), names)
        claimed = {a for op in self.ops for a in op.again}
        self.again = self._behind((n for n in self._graph if n.op == "output"), claimed)
        self.results: list[Any] = []
        self.leaves: dict[int, int] = {}
        self.next_functions: tuple[tuple[Any, int], ...] = ()
        self._join(ends)

    def _placeholders(self) -> list[Any]:
        places = [n for n in self._graph if n.op == "placeholder" and not compiled.is_tangent(n)]
        return places[len(compiled.sizes_of(self.node)) :]

    def _grouped(self) -> list[list[Any]]:
        """The ops that gradients pass, in their order; neighbours that belong to one forward op are together."""
        found: list[list[Any]] = []
        last: Any = None
        for n in self._graph:
            if n not in self._moving or n.op == "placeholder" or n in self._sums:
                continue
            number = SUM if compiled.is_sum(n) else compiled.number_of(n)
            if not found or (number is not None and number != last) or number == SUM:
                found.append([])
            found[-1].append(n)
            last = last if number is None else number
        return found

    def _made(self, groups: list[list[Any]], names: dict[Any, str]) -> list[RegionOp]:
        claimed: set[Any] = set()
        made, first = [], self.node._sequence_nr()
        for k, ops in enumerate(groups):
            again = self._behind(ops, claimed)
            claimed.update(again)
            outside = dict.fromkeys(a for n in ops for a in n.all_input_nodes if a in self._moving)
            arrivals = ops if compiled.is_sum(ops[0]) else [a for a in outside if a not in set(ops)]
            reads = self._reads(ops, again)
            op = RegionOp(
                _title(ops, names),
                first - (k + 1) / (len(groups) + 1),
                ops,
                again,
                arrivals,
                reads,
                modules=next((m for n in ops if (m := compiled.modules_around(n))), []),
                place=compiled.line_of(ops),
                looks=[look_of(a, self._sizes) for a in arrivals],
                inputs=[s.value for s in reads if compiled.is_input(s.name) and _is_constant(s.value)],
            )
            made.append(op)
        self._find_results(made)
        return made

    def _find_results(self, made: list[RegionOp]) -> None:
        """Which saved tensors are results of these ops: where the forward graph has a single op of that number."""
        graph = compiled.forward_graph(self.node)
        ops = [] if graph is None else [n for n in graph.graph.nodes if n.op == "call_function"]
        alone = {n for n, count in Counter(map(compiled.number_of, ops)).items() if count == 1}
        numbers = {n.name: k for n in ops if (k := compiled.number_of(n)) in alone}
        kept: dict[int | None, Any] = {k: s.value for n, s in self._kept.items() if (k := numbers.get(n.name)) is not None}
        of = Counter(compiled.number_of(op.ops[0]) for op in made)
        for op in made:
            number = compiled.number_of(op.ops[0])
            value = kept.get(number)
            if value is not None and of[number] == 1 == len(op.arrivals) and tuple(value.shape) == op.looks[0].shape:
                op.result = value

    def _reads(self, ops: list[Any], again: list[Any]) -> list[SavedValue]:
        """What a rule reads: saved tensors, then what is computed again."""
        given = dict.fromkeys(a for n in (*again, *ops) for a in n.all_input_nodes if a in self._kept)
        direct = dict.fromkeys(a for n in ops for a in n.all_input_nodes if a in set(again))
        kept = [self._kept[a]._replace(name=a.name) for a in given]
        return kept + [SavedValue(a.name, Again(a, again, look_of(a, self._sizes)), "plain") for a in direct]

    def _join(self, ends: list[Any]) -> None:
        """Give each node its edges: to the nodes that read its values, and out of the region."""
        senders: dict[Any, Region | RegionOp] = {n: op for op in self.ops for n in op.ops}
        edges: list[tuple[Any, Any, int]] = []
        for op in self.ops:
            for index, value in enumerate(op.arrivals):
                edges += [(part, op, index) for part in self.parts([value])]
        inside = len(edges)
        places = [k for k, value in enumerate(ends) if value is not None]
        edges += [(ends[k], *self.node.next_functions[k]) for k in places]
        for k, (value, after, index) in enumerate(edges):
            sender = senders.get(value, self)
            if k >= inside:
                sender.leaves[len(sender.results)] = places[k - inside]
            sender.results.append(value)
            sender.next_functions += ((after, index),)

    def parts(self, values: Iterable[Any]) -> list[Any]:
        """Values with each sum of gradients replaced by what is added, in the order of the graph."""
        found, todo = set(), list(values)
        while todo:
            value = todo.pop()
            if compiled.is_sum(value):
                todo += value.all_input_nodes
            else:
                found.add(value)
        return sorted(found, key=self._graph.__getitem__)

    def _behind(self, ops: Iterable[Any], claimed: set[Any]) -> list[Any]:
        """The ops that must be computed again for these, in the order of the graph."""
        found: set[Any] = set()
        todo = list(ops)
        while todo:
            for a in todo.pop().all_input_nodes:
                if not (a.op == "placeholder" or a in self._moving or a in claimed or a in found):
                    found.add(a)
                    todo.append(a)
        return sorted(found, key=self._graph.__getitem__)


def opened(node: Any) -> Region | None:
    """The region of a compiled node; None if PyTorch does not keep its graph, or not as this release of ours knows it."""
    module = compiled.backward_graph(node)
    ends = None if module is None else compiled.ends_of(node, module.graph)
    if ends is None:
        return None
    ops = [n for n in _moving(module.graph.nodes) if n.op != "placeholder"]
    if not any(compiled.number_of(n) is not None for n in ops):
        return None
    return Region(node, module, ends)


def _moving(nodes: Iterable[Any]) -> dict[Any, None]:
    """What depends on a gradient that arrives."""
    found: dict[Any, None] = {}
    for n in nodes:
        if n.op != "output" and (compiled.is_tangent(n) or any(a in found for a in n.all_input_nodes)):
            found[n] = None
    return found


def _kept_by(node: Any) -> list[SavedValue]:
    """What the region has saved, in the order of its graph."""
    kept = list(saved_of(node))
    if any(k.name == "saved_tensors" for k in kept):  # freed: one entry for all
        return [SavedValue("", None, "freed")] * sum(n.op == "placeholder" for n in compiled.backward_graph(node).graph.nodes)
    return [*kept, *(SavedValue("", t, "kept") for t in compiled.kept_beside(node))]


def _forward_names(node: Any, graph: Iterable[Any]) -> dict[Any, str]:
    """The names of forward ops, as far as they are known, by sequence number and the user's function, and by the number."""
    whole = compiled.forward_graph(node)
    ops = [] if whole is None else [n for n in whole.graph.nodes if n.op == "call_function"]
    found: dict[Any, str] = {}
    for n in (*ops, *(n for n in graph if compiled.is_forward(n))):
        number, name = compiled.number_of(n), compiled.op_name(n)
        if number is not None and name:
            found.setdefault((number, compiled.function_name(n)), name)
            found.setdefault(number, name)
    return found


def _title(ops: Sequence[Any], names: dict[Any, str]) -> str:
    """The name of the forward op; else of the user's function around it."""
    if compiled.is_sum(ops[0]):
        return SUM
    number = next((k for n in ops if (k := compiled.number_of(n)) is not None), None)
    function = next((f for n in ops if (f := compiled.function_name(n))), "")
    turned = compiled.op_name(ops[0]) if len(ops) == 1 else ""
    name = names.get((number, function)) or (turned if turned in TURNING else "") or names.get(number) or function
    name = name or compiled.own_name(ops[0])
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


def _is_constant(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not value.requires_grad
