"""Where boxes stand along their rows."""

from __future__ import annotations

from collections.abc import Container, Mapping
from math import ceil

from ...graph.model import Document
from .measure import tensor_inputs
from .parts import Part

GRID = 20
LIGHT = 1 / 1024  # weight of a box in a side chain: it gives way


def place(parts: list[Part], want: Mapping[str, float], light: Container[str] = ()) -> None:
    """Set centres on the grid 20n + 10, in the order of `want`. They are as near to it as spacing allows (least squares). Boxes
    that touch each other form a run. A run moves to the mean of its wishes (pool adjacent violators). The `light` boxes hardly
    count in the mean.
    """
    parts = sorted(parts, key=lambda p: want[p.id])
    offset = 0.0
    runs: list[tuple[float, float, list[tuple[Part, float]]]] = []  # weight, sum of wishes, members with their offsets
    for i, p in enumerate(parts):
        if i:
            before = parts[i - 1]
            offset += GRID * ceil((before.w / 2 + before.right + p.left + p.w / 2) / GRID)
        weight = LIGHT if p.id in light else 1
        runs.append((weight, weight * (want[p.id] - offset), [(p, offset)]))
        while len(runs) > 1 and runs[-2][1] / runs[-2][0] >= runs[-1][1] / runs[-1][0]:
            weight, total, members = runs.pop()
            runs[-1] = (runs[-1][0] + weight, runs[-1][1] + total, runs[-1][2] + members)
    for weight, total, members in runs:
        for p, offset in members:
            p.centre = GRID * round((total / weight - 10) / GRID) + 10 + offset


class ForwardPlaces:
    """Places ops under the ops before them. A tensor stands over its slot in the first op that takes it, or under its maker.
    Side chains (ranks.py) stand over their slot in the op that they lead to.
    """

    def __init__(
        self, document: Document, parts: Mapping[str, Part], made_by: Mapping[str, str], beside: Mapping[str, tuple[str, str]],
        step: float,
    ) -> None:  # fmt: skip
        self.parts, self.made_by, self.beside, self.step = parts, made_by, beside, step
        self.ops = {o.id: o for o in document.ops}
        self.slot: dict[tuple[str, str], float] = {}  # the preferred place of an input, right of its op's centre
        self.user: dict[str, str] = {}  # the first op that takes a tensor from the row above
        for op in document.ops:
            distinct = list(dict.fromkeys(tensor_inputs(op)))
            for i, t in enumerate(distinct):
                self.slot[op.id, t] = step * (i - (len(distinct) - 1) / 2)
                if t in parts and parts[t].row == parts[op.id].row - 1:
                    self.user.setdefault(t, op.id)
        self.over: dict[str, tuple[str, float]] = {}  # of a side chain's op: what it leads to, px to the right
        for op_id, (user, t) in beside.items():  # in the order from the op back to the leaf
            joins, aside = self.over.get(user, (user, 0.0))
            self.over[op_id] = joins, aside + self.slot[user, t]
        # ops with a side chain and no tensor above them: they stay under the op before
        self.along = {user for user, _ in beside.values() if user not in beside} - set(self.user.values())
        self.light = {*beside, *(t for t, user in self.user.items() if user in beside)}

    def place(self, rows: list[list[Part]]) -> None:
        """Place all rows three times, top to bottom: in the first round ops know nothing of later rows. Leaves of side chains
        come last: they stand above ops that give way to others.
        """
        turns = [(line, turn == 0) for turn in range(3) for line in rows]
        turns += [(line, False) for line in rows[::2] if any(p.id in self.light for p in line)]
        for line, is_first in turns:
            place(line, {p.id: self._wish(p, 400.0 * i, is_first) for i, p in enumerate(line)}, self.light)

    def _wish(self, p: Part, otherwise: float, first_turn: bool) -> float:
        if p.id not in self.ops:
            return self._tensor_wish(p, otherwise)
        if p.id in self.over:
            joins, aside = self.over[p.id]
            return self.parts[joins].centre + aside
        inputs = tensor_inputs(self.ops[p.id])
        if first_turn or p.id in self.along:
            above = [self.parts[m].centre for t in inputs if (m := self.made_by.get(t)) is not None and m not in self.beside]
            return sum(above) / len(above) if above else otherwise
        places = [(self.parts[t] if t in self.parts else self.parts[self.made_by[t]], self.slot[p.id, t]) for t in inputs]
        near = [q.centre - s for q, s in places if q.row == p.row - 1] or [q.centre - s for q, s in places]
        return sum(near) / len(near) if near else p.centre

    def _tensor_wish(self, p: Part, otherwise: float) -> float:
        maker = self.ops.get(self.made_by.get(p.id, ""))
        if maker is not None and len(maker.outputs) > 1:
            return self.parts[maker.id].centre + self.step * (maker.outputs.index(p.id) - (len(maker.outputs) - 1) / 2)
        if p.id in self.user:
            return self.parts[self.user[p.id]].centre + self.slot[self.user[p.id], p.id]
        if maker is None:
            return otherwise
        inputs = tensor_inputs(maker)
        aside = len(set(inputs)) > 1 and inputs[0] in self.parts  # under the first of two inputs, as Waite draws it
        return self.parts[maker.id].centre - (self.step / 2 if aside else 0)


def place_ctx(parts: dict[str, Part], saving: Mapping[str, str], rows: list[list[Part]], size: float) -> None:
    """Place each ctx beside its op. If nothing is to the right of any op, all ctx stand in one column."""
    op_rows = rows[1::2]
    for line in op_rows:
        line.sort(key=lambda p: p.centre)
    column = max([line[-1].end for line in op_rows if line and line[-1].id in saving], default=0.0) + 60 + size / 2
    for line in op_rows:
        for p in [p for p in line if p.id in saving]:
            centre = column if p is line[-1] else p.end + 40 + size / 2
            parts[f"ctx:{p.id}"] = Part(f"ctx:{p.id}", "ctx", p.row, size, size, centre=centre)
        line.extend([parts[f"ctx:{p.id}"] for p in line if p.id in saving])


def place_right(
    document: Document, parts: Mapping[str, Part], beside: Container[str], ladders: tuple[list[list[Part]], list[list[Part]]],
    step: float,
) -> None:  # fmt: skip
    """Place backward nodes in the order of their ops, those of side chains last; AccumulateGrad over the first node that feeds
    it, a `step` to the side per tuple.
    """
    left_rows, rows = ladders
    order = {p.id: (p.id in beside, i) for line in left_rows for i, p in enumerate(line)}
    nodes = {n.id: n for n in document.nodes}
    for r in range(0, len(rows), 2):
        line = rows[r + 1]
        line.sort(key=lambda p: order.get(nodes[p.id].op or "", (True, len(order))))
        place(line, {p.id: 300.0 * i for i, p in enumerate(line)})
        shift = min([p.x for p in line], default=0)
        for p in line:
            p.centre -= shift
        want = {p.id: 90.0 + step * i for i, p in enumerate(rows[r])}
        for p in reversed(line):
            for i, f in enumerate(nodes[p.id].next_functions):
                if f.node is not None and parts[f.node].row == r:
                    want[f.node] = p.centre + step * min(i, 3)
        place(rows[r], want)
        shift = max(0, -min([p.x for p in rows[r]], default=0))
        for p in rows[r]:
            p.centre += GRID * ceil(shift / GRID)
