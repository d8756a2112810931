"""Which modules to checkpoint so that a backward pass fits a budget, at the least recomputation.

# Note [How a plan is chosen]
The modules lie in the order of the program, one inside another. A checkpoint lowers each call before its module's own, by the
same bytes. So a state of the search is a place in the program, the bytes that are saved so far, and their price in operations.
At each place those states stay that no other beats in both. This is exact where what a checkpoint saves does not depend on the
others, as in a chain. The chosen plan is then checked with all its checkpoints together, and searched again with less if it is
too high. If nothing is found so, the plan of the smallest peak loses what it can do without, the most expensive first.
Where there are too many states, some are dropped. A search in which the dropped ones are merged for the better gives the bound.

# Note [Operations]
They are counted from shapes; a multiplication and an addition are two. The formulas are those of `torch.utils.flop_counter`. It
counts only matrix products, convolutions and attention; here any other op that computes counts one for each element of its
results.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...graph.model import Op, Shape
from ...graph.paths import Path
from ..maps.index import REARRANGING
from .checkpoints import Checkpoints, is_inside
from .facts import VIEWS, Facts, around

MOST_STATES = 1000  # at one place
TRIES = 12  # searches of a plan that fits


@dataclass(frozen=True, slots=True)
class Plan:
    """The modules that get a checkpoint."""

    budget: int  # bytes that the whole may take
    # in the order of the program; none is inside another. Of a plan that does not fit, those of the smallest peak
    paths: tuple[Path, ...]
    heights: Sequence[int]  # bytes at each call of the pass with them, without what stays
    stays: int  # bytes that are there all the time: parameters, their state in the optimizer, inputs
    work: int  # the operations that are computed again
    forward: int  # those of the forward pass
    bound: int | None  # no plan needs fewer than these; None if no bound is known

    @property
    def peak(self) -> int:
        """Bytes at the highest call, with what stays."""
        return self.stays + max(self.heights, default=0)

    @property
    def fits(self) -> bool:
        """Is the peak within the budget?"""
        return self.peak <= self.budget

    @property
    def share(self) -> float:
        """The part of the forward pass that is computed again."""
        return self.work / self.forward if self.forward else 0.0


class _Item(NamedTuple):
    """A module in the search: from where to where in the order of the program, its own peak, what it saves, its price."""

    path: Path
    start: int
    end: int
    peak: int
    saves: int
    work: int


class _State(NamedTuple):
    work: int
    saved: int
    chosen: tuple[_Item, _State] | None  # the last module and the state before it

    def paths(self) -> tuple[Path, ...]:
        """All modules that are chosen."""
        found, state = [], self
        while state.chosen is not None:
            item, state = state.chosen
            found.append(item.path)
        return tuple(reversed(found))


class _Search:
    """See Note [How a plan is chosen]."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._heights = checkpoints.heights[::-1]
        self.works = works_of(checkpoints)
        items = [item for path in checkpoints.parts if (item := _item(checkpoints, path, self.works[path])).saves > 0]
        ends = {0, len(self._heights), *(i.start for i in items), *(i.end for i in items)}
        self._places = sorted(ends)
        self._starting: dict[int, list[_Item]] = defaultdict(list)
        for item in items:
            self._starting[item.start].append(item)
        self._highest = {a: (b, max(self._heights[a:b])) for a, b in itertools.pairwise(self._places)}
        self.has_dropped = False

    def best(self, limit: int, most: int = MOST_STATES, merges: bool = False) -> _State | None:
        """The cheapest state at the end whose calls are all within the limit; of `most` = 1 the one that saves most."""
        open: dict[int, list[_State]] = defaultdict(list, {0: [_State(0, 0, None)]})
        for place in self._places[:-1]:
            states = self._front(open.pop(place, []), most, merges)
            following, highest = self._highest[place]
            open[following] += [s for s in states if highest - s.saved <= limit]
            for item in self._starting[place]:
                fitting = (s for s in states if item.peak - s.saved <= limit)
                open[item.end] += [_State(s.work + item.work, s.saved + item.saves, (item, s)) for s in fitting]
        return min(open[self._places[-1]], key=lambda s: s[:2], default=None)

    def _front(self, states: list[_State], most: int, merges: bool) -> list[_State]:
        """The states that no other beats."""
        front: list[_State] = []
        for state in sorted(states, key=lambda s: (s.work, -s.saved)):
            if not front or state.saved > front[-1].saved:
                front.append(state)
        if len(front) <= most:
            return front
        self.has_dropped |= most > 1
        ends = [len(front) * k // most for k in range(most + 1)]
        groups = [front[a:b] for a, b in itertools.pairwise(ends)]
        return [g[0]._replace(saved=g[-1].saved) if merges else g[-1] for g in groups]

    def lowest(self) -> int:
        """The smallest limit that some plan keeps."""
        low, high = 0, max(self._heights, default=0)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.best(middle, most=1) is not None else (middle + 1, high)
        return high


def plan_of(checkpoints: Checkpoints, budget: int, stays: int) -> Plan:
    """The plan for a budget; `stays`: bytes that are there all the time."""
    search = _Search(checkpoints)
    forward, works = sum(work_of(checkpoints.facts, op) for op in checkpoints.facts.document.ops), search.works

    def plan(paths: tuple[Path, ...], bound: int | None = None) -> Plan:
        work = sum(works[path] for path in paths)
        return Plan(budget, paths, checkpoints.heights_with(paths), stays, work, forward, bound)

    def bound() -> int | None:
        state = search.best(budget - stays, merges=True) if _is_chain(checkpoints) else None
        return None if state is None else state.work

    limit = budget - stays
    for _ in range(TRIES):
        if (state := search.best(limit)) is None:
            break
        found = plan(state.paths())
        if found.fits:
            least = bound()
            return plan(found.paths if least == found.work else _trimmed(found, plan, works), least)
        limit -= found.peak - budget
    state = search.best(search.lowest(), most=1)
    smallest = plan(() if state is None else state.paths())
    return plan(_trimmed(smallest, plan, works), bound()) if smallest.fits else smallest


def _trimmed(found: Plan, plan: Callable[[tuple[Path, ...]], Plan], works: Mapping[Path, int]) -> tuple[Path, ...]:
    """The modules of a plan without those that it can do without, the most expensive first."""
    kept = found.paths
    for path in sorted(found.paths, key=works.__getitem__, reverse=True):
        fewer = tuple(other for other in kept if other != path)
        kept = fewer if plan(fewer).fits else kept
    return kept


def _is_chain(checkpoints: Checkpoints) -> bool:
    """Does what a checkpoint keeps belong to it alone? An input that nobody has saved may be that of two modules."""
    keepers: dict[str, list[Path]] = defaultdict(list)
    for part in checkpoints.parts.values():
        for tensor in part.unsaved:
            keepers[tensor].append(part.path)
    nested = (itertools.pairwise(sorted(paths, key=len)) for paths in keepers.values())
    return all(is_inside(inner, outer) for pairs in nested for outer, inner in pairs)


def _item(checkpoints: Checkpoints, path: Path, work: int) -> _Item:
    part, count = checkpoints.parts[path], len(checkpoints.heights)
    changes = checkpoints.changes([path])
    sums = [*itertools.accumulate(changes.get(i, 0) for i in range(part.last + 1))]
    peak = max(checkpoints.heights[i] + sums[i] for i in range(part.first, part.last + 1))
    saves = -max(sums[: part.first], default=0)
    return _Item(path, count - 1 - part.last, count - part.first, peak, saves, work)


def works_of(checkpoints: Checkpoints) -> dict[Path, int]:
    """The operations that a checkpoint around each part computes again: up to the last op whose saved tensors are needed."""
    facts = checkpoints.facts
    saved_by = defaultdict(set)
    for h in facts.holdings:
        for use in h.storage.uses:
            saved_by[facts.nodes[use.node].op].add(use.name)
    found: dict[Path, int] = dict.fromkeys(checkpoints.parts, 0)
    pending = dict(found)  # of the ops after the last one that saves something
    for op in facts.document.ops:
        path, work, names = facts.op_paths[op.id], work_of(facts, op), saved_by.get(op.id)
        is_result = names is not None and any(name.startswith(("result", "output")) for name in names)
        for part in (above for above in around(path) if above in found):
            if names is None:
                pending[part] += work
            else:
                found[part] += pending[part] + (work if is_result else 0)
                pending[part] = 0 if is_result else work
    return found


Formula = Callable[[Sequence[Shape], Shape], int]  # of the shapes of the inputs and of the first result


def _product(at: int) -> Formula:
    """Of a matrix product whose first factor is the input at `at`."""
    return lambda given, made: 2 * math.prod(made) * given[at][-1]


def _convolution(given: Sequence[Shape], made: Shape) -> int:
    """Each weight is used once for each place of the smaller side: of a transposed convolution, that is the input."""
    x, weight = given[:2]
    return 2 * x[0] * min(math.prod(x[2:]), math.prod(made[2:])) * math.prod(weight)


def _attention(given: Sequence[Shape], made: Shape) -> int:
    q, k, v = given[:3]
    return 2 * math.prod(q[:-1]) * k[-2] * (q[-1] + v[-1])


def _recurrent(given: Sequence[Shape], made: Shape) -> int:
    return 2 * math.prod(made[:-1]) * (math.prod(given[1]) + math.prod(given[2]))


FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("Mm", "Bmm", "Mv", "Dot", "Linear"), _product(0)),
    **dict.fromkeys(("Addmm", "Baddbmm", "Addmv"), _product(1)),
    "Convolution": _convolution,
    "MkldnnRnnLayer": _recurrent,
}


def work_of(facts: Facts, op: Op) -> int:
    """The operations of an op."""
    given = [facts.tensors[o.tensor].value.shape for o in op.inputs if o.tensor is not None]
    made = [facts.tensors[t].value.shape for t in op.outputs if t is not None]
    if not made or op.name in VIEWS:
        return 0
    formula = _attention if op.name.startswith("ScaledDotProduct") else FORMULAS.get(op.name)
    if formula is not None:
        try:
            return formula(given, made[0])
        except (IndexError, ValueError):  # a shape that nobody saw
            pass
    return 0 if op.name in REARRANGING else sum(map(math.prod, made))
