"""What is odd about a pass: a fall or rise that its ops do not explain, a parameter far from its like.

# Note [Pink means odd]
A part is judged by what arrives at it and what leaves it, beyond what its ops are expected to do to the norm, in decades: a
mean over N divides it by √N. Shapes and plain numbers say it; the values of results are not read for a map, so what depends on
them has room on both sides. Beside a way that skips it, a part may be as faint as it likes down to `FAINT`, and it may start at
zero: a residual branch does. A row of parts, each a little fainter, is judged as a whole. A parameter is odd if its gradient,
or its values, are far from the median of all, measured by the median absolute deviation in decades. What only follows from an
odd part is not odd itself.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from statistics import median
from typing import NamedTuple

from ... import words
from ...graph.model import Op
from ...graph.text import norm_of
from .cards import Card, walk
from .flow import ENTRANCE, EXIT, Flow
from .index import Index
from .ink import shortened
from .numbers import Outliers, Place, norm_text
from .plan import Plan

FAR = 2.0  # decades beyond what is expected, in one part
FAINT = 5.0  # in a part beside which a way leads past it; and in a row of parts
ROW_OF = 3  # parts at least
LIKE = 4  # parameters at least, to compare one with
AWAY = 3.5  # decades from the median of its like
SPREADS, LEAST_SPREAD = 5.0, 0.3  # in median absolute deviations, and one of them in decades at least
LONGEST = 16  # letters of a name in a remark
FREE = 3.0  # decades that an op may add which divides by the size of what it is given
DIVIDING = {"Div", "LinalgVectorNorm", "Norm", "Reciprocal", "Rsqrt", "Std", "StdMean", "Var", "VarMean"}
MATRIX = {"Addmm", "Baddbmm", "Bmm", "Convolution", "Linear", "Mm", "Mv", "MmBackward"}  # their weights are drawn to fit


class Room(NamedTuple):
    """Between which decades the norm may change."""

    low: float
    high: float

    def beyond(self, decades: float) -> float:
        """How far outside a change is: below 0 a fall, above 0 a rise."""
        return min(decades - self.low, 0.0) or max(decades - self.high, 0.0)


OfOp = tuple[bool, float, float, float]  # is it free; the decades by which it moves, softens, reduces


class Odd:
    """What is odd on a map."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.index = plan, plan.index
        self._rooms: dict[str, Room] = {}
        self._beside: dict[str, bool] = {}

    def remark(self, card: Card, flow: Flow, known: Mapping[Place, float]) -> str:
        """What is odd about what leaves a part of an open card; it is said where most of it leaves."""
        change = self._change(card, flow, known)
        if change is None:
            return ""
        part, before, left = change
        name = shortened(self.plan.titled(part), LONGEST)
        if not math.isfinite(left):
            return words.MAP_BORN.format(what=norm_text(left), name=name) if math.isfinite(before) else ""
        if not math.isfinite(before) or before == 0:
            return ""
        if left == 0:
            return "" if self._may_be_zero(card, part) else words.MAP_STOPPED.format(name=name)
        beyond = self._room(part).beyond(math.log10(left / before))
        if abs(beyond) <= FAR or (beyond < 0 and abs(beyond) <= FAINT and self._is_beside(part)):
            return self._of_row(card, flow, known)
        form = words.MAP_SMALLER if beyond < 0 else words.MAP_LARGER
        return form.format(ratio=norm_text(max(before / left, left / before)), name=name)

    def _change(self, card: Card, flow: Flow, known: Mapping[Place, float]) -> tuple[Card, float, float] | None:
        """The part that a way comes back from, what arrived at it and what left it; None if that is not known."""
        frame = self.plan.places.frames[card.id]
        if flow.target == EXIT or flow.source < ENTRANCE or frame.parts[flow.target].kind == "root":
            return None
        if any(f.is_sum for f in frame.flows if flow.target in (f.source, f.target)):
            return None  # what else is in it is not known
        gone = [f.gradient(known) for f in frame.flows if f.target == flow.target and f.places]
        left, before = _all(gone), _all([f.gradient(known) for f in frame.flows if f.source == flow.target and f.places])
        own = flow.gradient(known)
        is_most = own is None or math.isnan(own) or own == max(n for n in gone if n is not None)
        return None if left is None or before is None or not is_most else (frame.parts[flow.target], before, left)

    def _of_row(self, card: Card, flow: Flow, known: Mapping[Place, float]) -> str:
        """Of the way next to the input: how much fainter or larger the row of parts has made it."""
        ratio, last = self.row(card, known) if (flow.source, flow.target) == (0, 1) else (0.0, card)
        if not ratio:
            return ""
        form = words.MAP_SMALLER_SINCE if ratio < 0 else words.MAP_LARGER_SINCE
        return form.format(ratio=norm_text(10 ** abs(ratio)), name=shortened(self.plan.titled(last), LONGEST))

    def row(self, card: Card, known: Mapping[Place, float]) -> tuple[float, Card]:
        """By how many decades a row of parts changes the gradient, if that is odd; else 0. And the part where the row ends."""
        frame = self.plan.places.frames[card.id]
        parts = [p for p in frame.parts if p.kind != "root"]
        if len(parts) < ROW_OF or len(frame.flows) > 2 * len(parts):
            return 0.0, card
        norms = arrived(frame.flows, parts, known)
        first, end = norms[0], next((k for k in range(len(parts) - 1, 0, -1) if norms[k] is not None), 0)
        last = norms[end]
        if not first or not last or not math.isfinite(first + last) or any(self._is_beside(p) for p in parts[1:end]):
            return 0.0, card
        rooms = [self._room(p) for p in parts[1 : end + 1]]
        steps = [math.log10(a / b) if a and b else 0.0 for a, b in zip(norms, norms[1:], strict=False)]
        if any(abs(room.beyond(step)) > FAR for room, step in zip(rooms, steps, strict=False)):
            return 0.0, card  # one part of it is odd alone
        decades = math.log10(first / last)
        beyond = Room(sum(r.low for r in rooms), sum(r.high for r in rooms)).beyond(decades)
        leaves = [{t.id for t in self.index.leaves(p.ops())} for p in (parts[0], parts[end])]
        is_time = beyond < 0 and bool(leaves[0] & leaves[1])  # one cell, turn after turn: what is long ago is faint
        return (decades if abs(beyond) > FAINT and not is_time else 0.0), parts[end]

    def alarms(self, card: Card, known: Mapping[Place, float], outliers: Outliers | None) -> list[str]:
        """Of a closed card: what is odd in it."""
        labels = self.plan.labels
        found = [] if labels.is_told(card) else labels.alarms(card, known, outliers)
        frames = self.plan.places.frames
        inside = [c for c in walk(card) if c.id in frames] if outliers is not None else []
        return found + list(islice(filter(None, (self.remark(c, f, known) for c in inside for f in frames[c.id].flows)), 1))

    @cached_property
    def _of_ops(self) -> list[OfOp]:
        return [of_op(self.index, op) for op in self.plan.document.ops]

    def _room(self, part: Card) -> Room:
        if part.id not in self._rooms:
            self._rooms[part.id] = room_of(self._of_ops[part.first : part.last])
        return self._rooms[part.id]

    def _is_beside(self, part: Card) -> bool:
        """Does a way lead past it, or past a card that it is in?"""
        if part.id not in self._beside:
            around = [self.plan.cards[id] for id in self.plan.around(part.id)]
            self._beside[part.id] = any(self._is_skipped(b, a) for a, b in zip(around, around[1:], strict=False))
        return self._beside[part.id]

    def _is_skipped(self, frame: Card, part: Card) -> bool:
        drawn = self.plan.places.frames[frame.id]
        k = next((k for k, p in enumerate(drawn.parts) if p is part), None)
        if k is None:
            return False
        before = _reached(k, [(f.target, f.source) for f in drawn.flows])
        after = _reached(k, [(f.source, f.target) for f in drawn.flows])
        given = {t for f in drawn.flows if f.source == ENTRANCE and f.target in before | {k} for t in f.tensors}
        ways = [f for f in drawn.flows if k not in (f.source, f.target)]
        shared = (f for f in ways if f.source in before and (f.source != ENTRANCE or given.intersection(f.tensors)))
        first = {f.target for f in shared} - before
        past = first.union(*(_reached(at, [(f.source, f.target) for f in ways]) for at in first))
        return bool(past & after)

    def _may_be_zero(self, frame: Card, part: Card) -> bool:
        """A branch that begins at zero on purpose: a weight of zeros in it, or a gate in the card around."""
        parts = [*self.plan.places.frames[frame.id].parts, frame]  # frame: of its entrance
        made = {t for f in self.plan.places.frames[frame.id].flows if parts[f.source] is part for t in f.tensors}
        if not self._is_beside(part) and not any(self._is_joined(t) for t in made):
            return False
        leaves = self.index.leaves((part if frame is self.plan.root else frame).ops())
        return any(norm_of(t.value) == 0 and t.requires_grad and not (t.name or "").endswith("bias") for t in leaves)

    def _is_joined(self, tensor: str) -> bool:
        """Is it added to another result, or a factor of one? That may need no grad, so that its own way is not in the graph."""
        index, todo, users = self.index, [tensor], list[Op]()
        while todo:
            for i in index.users.get(todo.pop(), ()):
                users.append(index.document.ops[i])
                todo += [t for t in users[-1].outputs if t is not None and index.rearranges(i)]
        given = {tensor, *(t for op in users for t in op.outputs)}
        joins = (op for op in users if op.name in ("Add", "Mul"))
        others = (o.tensor for op in joins for o in op.inputs if o.tensor not in given and o.text in ("", "?"))
        tensors = index.tensors
        return any(t is None or not (tensors[t].is_leaf and tensors[t].requires_grad) for t in others)

    def is_lost(self, card: Card, flow: Flow, known: Mapping[Place, float]) -> bool:
        """Does a cut leave parameters of a model without gradient, of which others have one?"""
        outliers = self.outliers(known)
        leaves = self.index.leaves(self.plan.places.frames[card.id].parts[flow.source].ops())
        return outliers is not None and any(t.id in outliers.missing for t in leaves)

    def outliers(self, known: Mapping[Place, float], is_over: bool = True) -> Outliers | None:
        """The parameters that are odd after a pass; None before."""
        leaves = [t for t in self.index.leaves(self.plan.root.ops()) if t.requires_grad]
        grads = {t.id: known[t.id, "grad", 0] for t in leaves if (t.id, "grad", 0) in known}
        if not grads or not is_over:
            return None
        values = {t.id: norm for t in leaves if (norm := norm_of(t.value)) is not None}
        models = {self._model(t.name) for t in leaves if t.id in grads}
        ops, users = self.index.document.ops, self.index.users
        missed = [t.id for t in leaves if t.id not in grads and self._model(t.name) in models]
        # no op has a node that runs under `no_grad`, where nobody expects a gradient
        missing = frozenset(t for t in missed if any(ops[i].node is not None for i in users[t]))
        size = {t.id: math.sqrt(math.prod(t.value.shape)) for t in leaves}
        per = {id: norm / size[id] for id, norm in grads.items() if size[id]}
        low = {t.id for t in leaves if len(t.value.shape) > 1}
        by_value = _away({id: norm / size[id] for id, norm in values.items() if size[id]}, low)
        return Outliers(_away(grads) & _away(per), by_value, missing, self._blocked(grads, known))

    def _model(self, name: str | None) -> str:
        """Of which model a parameter is: a generator that is detached has none of the gradient on purpose."""
        is_one = any(m.path == "" for m in self.index.document.modules)
        return "" if is_one or name is None or "." not in name else name.partition(".")[0]

    def _blocked(self, grads: Mapping[str, float], known: Mapping[Place, float]) -> frozenset[str]:
        """Parameters of cards at which a gradient arrived, and none of whose parameters got any of it."""
        if all(grads.values()):
            return frozenset()
        found = set[str]()
        for id, frame in self.plan.places.frames.items():
            zeros = any(norm_of(t.value) == 0 and not t.requires_grad for t in self.index.leaves(self.plan.cards[id].ops()))
            zeros = zeros or any(norm_of(t.value) == 0 and t.is_leaf and not t.requires_grad
                                 for i in self.plan.cards[id].ops() for t in self.index.taken[i])  # fmt: skip
            for k, part in enumerate(frame.parts):
                own = [t.id for t in self.index.leaves(part.ops()) if t.requires_grad]
                if not own or any(grads.get(t, 1.0) for t in own):
                    continue
                arrived = _all([f.gradient(known) for f in frame.flows if f.source == k and f.places])
                gone = [f.gradient(known) for f in frame.flows if f.target == k and f.places]
                if arrived and not any(gone) and not zeros and not self._may_be_zero(self.plan.cards[id], part):
                    found.update(own)
        return frozenset(found)


def _all(norms: list[float | None]) -> float | None:
    """The norm of several gradients as one vector; None if one is not known."""
    known = [n for n in norms if n is not None]
    if not norms or len(known) < len(norms):
        return None
    return math.nan if any(map(math.isnan, known)) else math.hypot(*known)


def arrived(flows: Sequence[Flow], parts: Sequence[Card], known: Mapping[Place, float]) -> list[float | None]:
    """The norm of what arrived at each part; None where it is not known."""
    return [_all([f.gradient(known) for f in flows if f.source == k and f.places]) for k in range(len(parts))]


def _reached(start: int, edges: list[tuple[int, int]]) -> set[int]:
    """All that edges lead to from a part."""
    found, todo, ends = set[int](), [start], defaultdict[int, set[int]](set)
    for a, b in edges:
        ends[a].add(b)
    while todo:
        new = ends[todo.pop()] - found
        found |= new
        todo += new - {ENTRANCE, EXIT}
    return found


def _away(norms: Mapping[str, float], low: set[str] | None = None) -> frozenset[str]:
    """Far above the median of all; of `low` also far below."""
    decades = {id: math.log10(n) for id, n in norms.items() if n > 0 and math.isfinite(n)}
    if len(decades) < LIKE:
        return frozenset()
    middle = median(decades.values())
    spread = max(1.4826 * median(abs(d - middle) for d in decades.values()), LEAST_SPREAD)
    least = max(AWAY, SPREADS * spread)
    return frozenset(id for id, d in decades.items() if d - middle > least or (low and id in low and middle - d > least))


def of_op(index: Index, op: Op) -> OfOp:
    """What one op does to the room. It stands in many parts, one in the other, and is asked once."""
    factor = _factor(op)
    is_free = (op.name in DIVIDING and factor is None) or "Norm" in op.name
    return is_free, 0.0 if factor is None else math.log10(factor), _softened(index, op), _reduced(index, op)


def room_of(ops: Sequence[OfOp]) -> Room:
    """Of a stretch of ops. Of reductions the two strongest count, of the others all."""
    free, moves, softens, reduces = zip(*ops, strict=True) if ops else ((),) * 4
    moved, softened, reduced, wide = sum(moves), sum(softens), sum(sorted(reduces)[-2:]), FREE if any(free) else 0.0
    return Room(min(moved, 0.0) - reduced - wide - softened, max(moved, 0.0) + reduced + wide)


def _factor(op: Op) -> float | None:
    """By what plain number it multiplies; None if by none."""
    if op.name not in ("Mul", "Div") or len(op.inputs) != 2:
        return None
    given = [o.text for o in op.inputs if o.tensor is None]
    try:
        number = abs(float(given[0])) if given else 0.0
    except ValueError:
        return None
    if not number or not math.isfinite(number):
        return None
    return 1 / number if op.name == "Div" and op.inputs[1].tensor is None else number


def _softened(index: Index, op: Op) -> float:
    """An even softmax over T passes about 1 ÷ T on."""
    if "oftmax" not in op.name and "DotProduct" not in op.name:
        return 0.0
    shapes = [index.tensors[t].value.shape for t in op.outputs if t is not None]
    return math.log10(max((n for shape in shapes for n in shape), default=1) or 1)


def _reduced(index: Index, op: Op) -> float:
    """Half the decades between what it takes and what it gives: of a sum, a mean, an expand, a repeat."""
    if op.name in MATRIX:
        return 0.0
    given = _most(index, (o.tensor for o in op.inputs))
    made = _most(index, op.outputs)
    return abs(math.log10(given / made)) / 2 if given and made else 0.0


def _most(index: Index, tensors: Iterable[str | None]) -> int:
    return max((math.prod(index.tensors[t].value.shape) for t in tensors if t is not None), default=0)
