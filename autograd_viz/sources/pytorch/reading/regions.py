"""A compiled region, opened: a node for each op of its forward pass, read from the region's backward graph.

# Note [How a region is opened]
`aot_autograd` traces autograd, and each op of its backward graph has the sequence number of a forward op. Neighbours with one
number are the rule of that op, and become one node. So a node of the picture leads where the node without compilation would.
- The region's own node stays. Gradients arrive there, and it sends them to the first of these nodes.
- An op that needs no gradient is computed again from what is saved. It belongs to the first node that reads it.
- A sum of gradients that arrive at one tensor is no node: several edges lead there, as in an eager graph.
- A gradient that goes to several nodes as it is has passed an addition. That has no op in the graph, and gets a node.
Numbers of these nodes lie between that of the region and the one before, so that they run in the order of the graph.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any

import torch

from . import compiled
from .nodes import outputs_of
from .region_op import Again, RegionOp, look_of
from .saved import SavedValue, saved_of

SUM = "GradientSum"  # of gradients that leave the region for one tensor
PASSING = "Passing"  # an op that is not known; it passes a gradient to several inputs as it is
ADDS = {"add", "add_"}  # ops that do so
TURNING = {"t", "transpose"}  # the rule of such an op is the op itself


class ForwardOps:
    """The forward ops of a region by sequence number, as far as its graphs tell them. `is_whole`: all are known."""

    def __init__(self, node: Any, graph: Iterable[Any]) -> None:
        whole = compiled.forward_graph(node)
        self._whole = [] if whole is None else [n for n in whole.graph.nodes if n.op == "call_function"]
        self.is_whole = bool(self._whole)
        known = (*self._whole, *(n for n in graph if compiled.is_forward(n)))
        # `detach` has no rule; it has the number of an op whose result is saved
        self._known = [n for n in known if compiled.number_of(n) is not None and compiled.op_name(n) not in ("", "detach")]
        self._names: dict[Any, str] = {}  # by number and function of the user's, and by number
        for n in self._known:
            self._names.setdefault((compiled.number_of(n), compiled.function_name(n)), compiled.op_name(n))
            self._names.setdefault(compiled.number_of(n), compiled.op_name(n))

    def title(self, ops: Sequence[Any]) -> str:
        """The name of the forward op of some backward ops; else of the user's function around it."""
        number = next((k for n in ops if (k := compiled.number_of(n)) is not None), None)
        function = next((f for n in ops if (f := compiled.function_name(n))), "")
        turned = compiled.op_name(ops[0]) if len(ops) == 1 else ""
        name = self._names.get((number, function)) or (turned if turned in TURNING else "")
        name = name or self._names.get(number) or function or compiled.own_name(ops[0])
        return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))

    def adds(self, after: float, before: float) -> list[Any]:
        """The additions between two numbers, each once."""
        adds = {compiled.number_of(n) or 0: n for n in self._known if compiled.op_name(n) in ADDS}
        return [n for number, n in adds.items() if after < number < before]

    def results(self) -> dict[str, int]:
        """What is certainly the result of an op: by its name in the graph, the number of the op, which has no other part."""
        count = Counter(map(compiled.number_of, self._whole))
        return {n.name: k for n in self._whole if (k := compiled.number_of(n)) is not None and count[k] == 1}


class Region:
    """A region that is open. Gradients arrive at its own node; what that sends, it has as a `RegionOp` has."""

    def __init__(self, node: Any, module: Any, ends: list[Any]) -> None:
        self.node, self.module = node, module  # its own node; its backward graph, `torch.fx.GraphModule`
        self._graph = {n: i for i, n in enumerate(module.graph.nodes)}
        self._moving = _moving(self._graph)
        self.graph_break = compiled.graph_break(self._graph)  # why the compiler began anew before it; "" if it did not
        places = [n for n in self._graph if n.op == "placeholder" and not compiled.is_tangent(n)]
        self._kept = dict(zip(places[len(compiled.sizes_of(node)) :], _kept_by(node), strict=False))
        shapes = [getattr(k.value, "shape", ()) for k in self._kept.values()]
        self._sizes = compiled.known_sizes(node, module.graph, [*shapes, *(m.shape for m in outputs_of(node))])
        self._forward = ForwardOps(node, self._graph)
        groups = self._grouped()
        self._group = {n: k for k, ops in enumerate(groups) for n in ops}
        self._last = {k: self._graph[ops[-1]] for k, ops in enumerate(groups)}
        self._passed: set[Any] = set()  # the values that one node passes on
        self._passing: dict[Any, RegionOp] = {}  # and that node
        self.ops = self._made(groups, self._shared(groups, ends))
        self._find_results()
        claimed = {a for op in self.ops for a in op.again}
        self.again = self._behind((n for n in self._graph if n.op == "output"), claimed)
        self.results: list[Any] = []
        self.leaves: dict[int, int] = {}
        self.next_functions: tuple[tuple[Any, int], ...] = ()
        self._join(ends)
        for k, op in enumerate(self.ops, 1):  # between the number of the region and the next lower one
            op.number = node._sequence_nr() - k / (len(self.ops) + 1)

    def _grouped(self) -> list[list[Any]]:
        """The ops that gradients pass, in their order; neighbours that belong to one forward op are together."""
        found: list[list[Any]] = []
        last: Any = None
        for n in (n for n in self._moving if n.op != "placeholder" and not compiled.is_sum(n)):
            number = compiled.number_of(n)
            if not found or (number is not None and number != last):
                found.append([])
            found[-1].append(n)
            last = last if number is None else number
        return found

    def _shared(self, groups: list[list[Any]], ends: list[Any]) -> dict[Any, bool]:
        """The values that are read in several places, and sums that leave the region. True: it is read nowhere inside."""
        inside, outside = Counter[Any](), Counter(e for e in ends if e in self._moving)
        for k, ops in enumerate(groups):
            inside.update({a for n in ops for a in n.all_input_nodes if a in self._moving and self._group.get(a) != k})
        for n in self._moving:
            inside.update(_added(n))
        sums = [n for n in outside if compiled.is_sum(n)]
        several = [n for n in self._moving if inside[n] + outside[n] > 1 and (inside[n] or n in sums)]
        return {n: not inside[n] for n in dict.fromkeys((*sums, *several))}

    def _made(self, groups: list[list[Any]], shared: dict[Any, bool]) -> list[RegionOp]:
        """The nodes, in the order in which they run."""
        self._passed.update(shared)
        claimed: set[Any] = set()
        made: list[tuple[tuple[int, int], RegionOp]] = []
        for ops in groups:
            again = self._behind(ops, claimed)
            claimed.update(again)
            made.append(((self._graph[ops[-1]], -1), self._rule(ops, again)))
        rules = [op for _, op in made]
        for value, is_last in shared.items():
            self._passing[value] = self._pass(value, is_last, rules)
            if not self._passing[value].ops:
                made.append(((self._after(value), self._graph[value]), self._passing[value]))
        return [op for _, op in sorted(made, key=itemgetter(0))]

    def _rule(self, ops: list[Any], again: list[Any]) -> RegionOp:
        outside = dict.fromkeys(a for n in ops for a in n.all_input_nodes if a in self._moving)
        arrivals = [a for a in outside if a not in set(ops)]
        reads = self._reads(ops, again)
        given = [s.value for s in reads if compiled.is_input(s.name)]
        return RegionOp(
            self._forward.title(ops),
            next((k for n in ops if (k := compiled.number_of(n)) is not None), None),
            arrivals,
            looks=[look_of(a, self._sizes) for a in arrivals],
            ops=ops,
            again=again,
            reads=reads,
            modules=next((m for n in ops if (m := compiled.modules_around(n))), []),
            place=compiled.line_of(ops),
            inputs=[t for t in given if isinstance(t, torch.Tensor) and not t.requires_grad],
        )

    def _pass(self, value: Any, is_last: bool, rules: Sequence[RegionOp]) -> RegionOp:
        """A node that passes a value on. In the forward pass that is an addition, which the backward graph needs no op for,
        or the last of the ops that read it, if all ops are known.
        """
        if is_last:
            return RegionOp(SUM, None, [value], [look_of(value, self._sizes)])
        readers = [n for n in value.users if n in self._group]
        later = [n for n in self.arriving(value) if not compiled.is_tangent(n)]
        last = max(readers, key=lambda n: compiled.number_of(n) or 0, default=None)
        least = 0 if last is None else compiled.number_of(last) or 0
        adds = self._forward.adds(least, min((compiled.number_of(n) or math.inf for n in later), default=math.inf))
        rule = None if last is None else rules[self._group[last]]
        is_first = last is not None and self._group[last] == min(self._group[n] for n in readers)
        if not adds and is_first and rule is not None and (self._forward.is_whole or rule.title == "Add"):
            return rule
        add = adds[0] if len(adds) == 1 else None
        return RegionOp(
            "Add" if adds else PASSING,
            None if add is None else compiled.number_of(add),
            [value],
            [look_of(value, self._sizes)],
            modules=self._around(value) if add is None else compiled.modules_around(add),
            place=None if add is None else compiled.line_of([add]),
        )

    def _around(self, value: Any) -> list[tuple[str, str, str]]:
        """The modules around all ops to which a value goes. Where it is added to another gradient, that one's op counts."""
        readers = [n for n in value.users if n in self._moving]
        near = [a for n in readers for a in ([a for a in _added(n) if a is not value] if compiled.is_sum(n) else [n])]
        stacks = [compiled.modules_around(n) for n in near if not (compiled.is_sum(n) or compiled.is_tangent(n))]
        return [same[0] for same in takewhile(lambda found: len(set(found)) == 1, zip(*stacks, strict=False))]

    def _after(self, value: Any) -> int:
        """The place in the graph after which a value is there."""
        return max(self._last.get(self._group.get(n, -1), -1) for n in self.arriving(value))

    def _find_results(self) -> None:
        """Find the saved tensors that are certainly results of these ops."""
        numbers = self._forward.results()
        kept: dict[int | None, Any] = {k: s.value for n, s in self._kept.items() if (k := numbers.get(n.name)) is not None}
        of = Counter(op.origin for op in self.ops)
        for op in self.ops:
            value = kept.get(op.origin)
            if value is not None and of[op.origin] == 1 == len(op.arrivals) and tuple(value.shape) == op.looks[0].shape:
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
        for op in self.ops:
            for index, value in enumerate(op.arrivals):
                for part in self.parts(op, value):
                    passing = self._passing.get(part, op)
                    _send(senders.get(part, self) if passing is op else passing, part, op, index)
        for k, value in enumerate(ends):
            if value is not None:
                sender = self._passing.get(value) or senders.get(value, self)
                sender.leaves[len(sender.results)] = k
                _send(sender, value, *self.node.next_functions[k])

    @property
    def is_ordered(self) -> bool:
        """Does every gradient go to a node that runs later? Else the graph has been read wrongly."""
        place = {op: k for k, op in enumerate(self.ops)}
        return all(place.get(after, k + 1) > k for k, op in enumerate(self.ops) for after, _ in op.next_functions)

    def parts(self, op: RegionOp, value: Any) -> list[Any]:
        """What is sent to a node in the place of a value: itself, or the parts of a sum, in the order of the graph."""
        return [value] if self._passing.get(value, op) is not op else self.arriving(value)

    def arriving(self, value: Any) -> list[Any]:
        """The parts of a sum; another value is its only part. A sum that a node passes on is one part."""
        found, todo = [], _added(value) or [value]
        while todo:
            n = todo.pop()
            if compiled.is_sum(n) and n not in self._passed:
                todo += _added(n)
            else:
                found.append(n)
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


def _send(sender: Region | RegionOp, value: Any, after: Any, index: int) -> None:
    sender.results.append(value)
    sender.next_functions += ((after, index),)


def _added(n: Any) -> list[Any]:
    """What a sum of gradients adds; the same value may be there twice. Empty for another op."""
    return [a for a in n.args if isinstance(a, torch.fx.Node)] if compiled.is_sum(n) else []


def opened(node: Any) -> Region | None:
    """The region of a compiled node; None if PyTorch does not keep its graph, or not as this release of ours knows it."""
    module = compiled.backward_graph(node)
    ends = None if module is None else compiled.ends_of(node, module.graph)
    if ends is None:
        return None
    ops = [n for n in _moving(module.graph.nodes) if n.op != "placeholder"]
    is_packed = any(k.state == "kept" and k.value is None for k in saved_of(node))  # reading would call the user's hooks
    if is_packed or not any(compiled.number_of(n) is not None for n in ops):
        return None
    region = Region(node, module, ends)
    return region if region.is_ordered else None


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
