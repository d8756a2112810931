"""Which arrows there are, and through which gaps and lanes each runs."""

from __future__ import annotations

from collections import defaultdict
from math import inf

from ...graph.model import Document, Node, Op
from .ladder import CLEAR, Ladder
from .measure import NODE_WIDTH, count_text, count_width, edge_width, entry_step, gradient_shapes, label_width, saved_tensors
from .parts import LEFT, PITCH, RIGHT, Crossing, End, Net, Part, Pin, Turn, Wire
from .sizes import Sizes

EXIT_STEP = 40  # px between outputs of an op, and between the entries of its backward node
SUM_STRIP = 20  # px kept for the label of a sum under a node
HEAD = 18  # px of an arrow's head
TALL = 40  # px of a node, from which on an arrow leaves it at its side below the one that enters
COUNT_STRIP = 50  # px for the count over a head, and some of the line


class Wiring:
    """Makes a wire for every arrow of the document. Trunks (arrows that skip rows) come last, the short ones first."""

    def __init__(
        self, document: Document, parts: dict[str, Part], made_by: dict[str, str], ladders: tuple[Ladder, Ladder], sizes: Sizes
    ) -> None:
        self.document, self.parts, self.made_by, self.sizes = document, parts, made_by, sizes
        self.depth = 0 if sizes.detail == "names" else 10  # px from a tensor's edge to its grad
        self.left, self.right = ladders
        self.ops = {o.id: o for o in document.ops}
        self.nodes = {n.id: n for n in document.nodes}
        self.shapes = gradient_shapes(document)
        self.wires: list[Wire] = []  # all arrows
        self.crossings: list[Crossing] = []  # those that cross the corridor
        self.sums: dict[tuple[str, int], float] = {}  # (node, output index) -> room for the label where several arrows join
        self._direct: list[tuple[Wire, Pin, Pin]] = []
        self._waiting: list[tuple[Wire, int, Pin, Pin]] = []
        self._leftmost = {r: min(line, key=lambda p: p.x) for r, line in enumerate(self.right.rows) if line}
        self._rightmost = {r: max(line, key=lambda p: p.x) for r, line in enumerate(self.left.rows) if line}

    def run(self) -> None:
        """Make all wires."""
        self._reserve_boxes()
        self._find_sums()
        for op in self.document.ops:
            self._results(op)
            self._inputs(op)
        for node in self.document.nodes:
            self._saved(node)
            self._retained(node)
            self._next_functions(node)
        self._grad_fns()
        for node in self.document.nodes:
            if node.variable is not None:
                self._accumulated(node, node.variable)
        for ladder in (self.left, self.right):
            for gap, pins in enumerate(ladder.pins):
                ladder.break_cycles(gap)
                for p in pins:
                    ladder.take(2 * gap, p.x - CLEAR, p.x + CLEAR, p.net)
        self._trunks()

    def _reserve_boxes(self) -> None:
        for ladder in (self.left, self.right):
            for p in (p for line in ladder.rows for p in line):
                ladder.take(2 * p.row + 1, p.x - CLEAR, p.end + CLEAR)
                if p.kind == "node":
                    ladder.take(2 * p.row + 1, p.x - 29, p.end + p.right - 20, ("zone", p.id))
                elif p.kind == "tensor":
                    ladder.take(2 * p.row + 1, p.x, p.end + p.right - 1)

    def _find_sums(self) -> None:
        """Outputs of nodes at which more than one gradient arrives."""
        arriving: dict[tuple[str, int], int] = defaultdict(int)
        for f in (f for node in self.document.nodes for f in node.next_functions if f.node is not None):
            arriving[f.node or "", f.index] += f.count
        for t in (t for t in self.document.tensors if t.id in self.document.roots and t.grad_fn is not None):
            arriving[t.grad_fn or "", t.output_nr] += 1
        for key, count in arriving.items():
            if count > 1:
                ports = self.nodes[key[0]].outputs
                self.sums[key] = min(label_width(self.shapes.get(key, ())), NODE_WIDTH if ports == 1 else EXIT_STEP - 2)

    def _connect(self, at: str, kind: str, net: Net, side: int, start: End, end: End, a: Pin, b: Pin, label: float = 0) -> None:
        """A wire between pins a and b of one ladder."""
        path = [Turn("pin", side, a), Turn("track", side, gap=a.gap), Turn("pin", side, b)]
        self.wires.append(Wire(at, kind, net, start, end, path, label, "right"))
        if a.gap == b.gap and kind == "next":
            self._direct.append((self.wires[-1], a, b))
        if a.gap != b.gap:
            self._waiting.append((self.wires[-1], side, a, b))

    def _exit(self, op: Op, output: int) -> float:
        """Where an output leaves its op: px from the op's left edge."""
        return self.parts[op.id].w / 2 + (output - (len(op.outputs) - 1) / 2) * EXIT_STEP

    def _results(self, op: Op) -> None:
        p = self.parts[op.id]
        for j, t in enumerate(op.outputs):
            if t is None:
                continue
            net, box = ("t", t), self.parts.get(t)
            pin = self.left.port(p.x + self._exit(op, j), net, p.row + 1, True)
            if box is not None:
                into = self.left.port(box.centre, net, p.row + 1, False)
                start, end = End(p, None, p.h), End(box, None, 0)
                self._connect(f"out:{op.id}.{j}", "result", net, LEFT, start, end, pin, into)

    def _inputs(self, op: Op) -> None:
        p, inputs = self.parts[op.id], [i for i in op.inputs if i.tensor is not None]
        for i, operand in enumerate(inputs):
            net: Net
            t, text = str(operand.tensor), count_text(operand.count)
            if t in self.parts:
                source, x, net = self.parts[t], self.parts[t].w / 2, ("t", t, "out")
            else:  # an intermediate value without a box: the arrow comes from its op
                maker = self.ops[self.made_by[t]]
                source, x, net = self.parts[maker.id], self._exit(maker, maker.outputs.index(t)), ("t", t)
            entry = p.w / 2 + (i - (len(inputs) - 1) / 2) * entry_step(op, self.sizes)
            pin = self.left.port(source.x + x, net, source.row + 1, True)
            into = self.left.port(p.x + entry, net, p.row, False)
            start, end = End(source, None, source.h), End(p, None, 0)
            self._connect(f"in:{op.id}.{i}", "input", net, LEFT, start, end, pin, into)
            if text:
                wire = self.wires[-1]
                wire.label_text, wire.label_side, wire.label_width = text, "end", count_width(operand.count) + 6
                self.left.below[p.row] = COUNT_STRIP

    def _into_node(self, p: Part, name: str, gap: int) -> tuple[int | None, list[Turn]]:
        """From the corridor into the left side of a node: straight if it is the first of its row."""
        if self._leftmost[p.row] is p:
            return None, []
        net = (name, p.id)
        lane = self.right.lane(p.x - (10 if name == "s" else 20), net, gap, p.row)
        self.right.open[gap].add(net)
        return gap, [Turn("track", RIGHT, gap=gap), Turn("pin", RIGHT, lane)]

    def _into_grad(self, p: Part, net: Net) -> tuple[int | None, list[Turn]]:
        """From the corridor into the grad row of a tensor: straight if it is the last of its row."""
        if self._rightmost[p.row] is p:
            return None, []
        self.left.open[p.row].add(net)
        lane = self.left.lane(p.end + (18 if net[0] == "h" else 10), net, p.row, p.row)
        return p.row, [Turn("track", LEFT, gap=p.row), Turn("pin", LEFT, lane)]

    def _cross(self, wire: Wire, left_gap: int | None, right_gap: int | None) -> None:
        self.wires.append(wire)
        self.crossings.append(Crossing(wire.net, wire, left_gap, right_gap))

    def _saved(self, node: Node) -> None:
        """Op -> ctx -> the node's saved row."""
        if node.op is None or f"ctx:{node.op}" not in self.parts:
            return
        op, ctx, p = self.parts[node.op], self.parts[f"ctx:{node.op}"], self.parts[node.id]
        jog = Pin(ctx.x - 20)
        self.left.take(2 * op.row + 1, jog.x - CLEAR, jog.x + CLEAR, ("j", node.id))
        start, end = End(op, op.w - 10, "save"), End(ctx, 0, ctx.h / 2)
        self.wires.append(Wire(f"save:{node.op}", "save", ("j", node.id), start, end, [Turn("pin", LEFT, jog)]))
        net, gap, head = ("s", node.id), None, []
        if self._rightmost[op.row] is not ctx:
            gap = op.row
            lane = self.left.lane(ctx.end + 10, net, gap, op.row)
            head = [Turn("pin", LEFT, lane), Turn("track", LEFT, gap=gap)]
            self.left.open[gap].add(net)
        right_gap, tail = self._into_node(p, "s", p.row)
        start, end, path = End(ctx, ctx.w, ctx.h / 2 - 5), End(p, 10, "saved"), [*head, Turn("lane"), *tail]
        self._cross(Wire(f"saved:{node.op}", "saved", net, start, end, path), gap, right_gap)

    def _retained(self, node: Node) -> None:
        """A wire from a node to the grad row of a tensor that retains its grad. It leaves the node at the bottom. If it has to
        pass over other tensors, it leaves in the lower part of the left side.
        """
        retaining = [t for t in self.document.tensors if t.retains_grad and t.grad_fn == node.id]
        for t in (t for t in retaining if t.id in self.parts):
            p, net, gap = self.parts[node.id], ("h", node.id, t.id), self.parts[node.id].row + 1
            left_gap, tail = self._into_grad(self.parts[t.id], net)
            end = End(self.parts[t.id], self.parts[t.id].w - self.depth, "grad")
            start, path, right_gap = End(p, 0, p.h - 15), [Turn("lane"), *tail], None
            if left_gap != gap or self._leftmost[p.row] is not p or len(retaining) > 1 or p.h < TALL:
                pin = self.right.port(p.x + 20 + 10 * t.output_nr, net, gap, True)
                self.right.open[gap].add(net)
                start, right_gap = End(p, None, p.h), gap
                path = [Turn("pin", RIGHT, pin), Turn("track", RIGHT, gap=gap), *path]
            self._cross(Wire(f"retain:{t.id}", "retain", net, start, end, path), left_gap, right_gap)

    def _grad_fns(self) -> None:
        """From the grad_fn row of a tensor to its node. Only the arrow of a root will carry a number."""
        for t in self.document.tensors:
            if t.grad_fn is None or t.id not in self.parts:
                continue
            p, net, gap = self.parts[t.id], ("f", t.grad_fn), self.parts[t.id].row
            lane = self.left.lane(p.end + p.right - 10, net, gap, gap)
            self.left.open[gap].add(net)
            node = self.parts[t.grad_fn]
            right_gap, tail = self._into_node(node, "f", gap)
            path = [Turn("pin", LEFT, lane), Turn("track", LEFT, gap=gap), Turn("lane"), *tail]
            label = label_width(t.value.shape) if t.id in self.document.roots else 0
            start, end = End(p, p.w - self.sizes.inset, "grad_fn"), End(node, 0, "grad_fn")
            self._cross(Wire(f"grad_fn:{t.id}", "grad_fn", net, start, end, path, label, "right"), gap, right_gap)

    def _next_functions(self, node: Node) -> None:
        p = self.parts[node.id]
        lane_x = p.end + p.right - 20 - PITCH * len(node.next_functions)
        for i, f in enumerate(node.next_functions):
            if f.node is None:
                continue
            target, net = self.parts[f.node], ("b", f.node, str(f.index))
            entry = target.w / 2 + EXIT_STEP * (f.index - (self.nodes[f.node].outputs - 1) / 2)
            end = self.right.port(target.x + entry, net, target.row + 1, True)
            pin = self.right.lane(lane_x + PITCH * i, net, p.row, p.row)
            if (f.node, f.index) in self.sums:
                self.right.above[target.row + 1] = SUM_STRIP
            width = edge_width(f, self.shapes.get((f.node, f.index), ()))
            start = End(p, p.w - self.sizes.inset, f"next{i}")
            self._connect(f"next:{node.id}.{i}", "next", net, RIGHT, start, End(target, None, target.h), pin, end, width)
            self.wires[-1].label_text = count_text(f.count)

    def _accumulated(self, node: Node, variable: str) -> None:
        """From AccumulateGrad to the grad row of its leaf."""
        p, t, net = self.parts[node.id], self.parts[variable], ("g", node.id)
        pin = self.right.port(p.centre, net, p.row, False)
        left_gap, tail = self._into_grad(t, net)
        self.right.open[p.row].add(net)
        self.right.below[p.row] = SUM_STRIP
        path = [Turn("pin", RIGHT, pin), Turn("track", RIGHT, gap=p.row), Turn("lane"), *tail]
        width = label_width(self.shapes.get((node.id, 0), ()))
        wire = Wire(f"grad:{node.id}", "grad", net, End(p, None, 0), End(t, t.w - self.depth, "grad"), path, width, "up")
        self._cross(wire, left_gap, p.row)

    def _trunks(self) -> None:
        ladders = (self.left, self.right)
        for wire, side, a, b in sorted(self._waiting, key=lambda w: abs(w[2].gap - w[3].gap)):
            pin = ladders[side].trunk(wire.net, a, b, 0 if side == RIGHT else -inf)
            wire.path[2:2] = [Turn("pin", side, pin), Turn("track", side, gap=b.gap)]
            if wire.kind == "next":
                self._straighten(wire, a, pin)
        for wire, a, b in self._direct:
            self._straighten(wire, a, b)

    def _straighten(self, wire: Wire, first: Pin, trunk: Pin) -> None:
        """Start straight into the trunk (or the box above) if no other node stands in between. The way is free: a line of
        another net at this x would also pass the gap above, and there the trunk is alone.
        """
        limit = min([o.x - 29 for o in self.right.rows[wire.start.part.row] if o.x > first.x], default=inf)
        if first.x < trunk.x < limit:
            first.x = trunk.x


def saving_ops(document: Document) -> dict[str, str]:
    """Ops with a ctx beside them, and their nodes."""
    return {n.op: n.id for n in document.nodes if n.op is not None and saved_tensors(n)}
