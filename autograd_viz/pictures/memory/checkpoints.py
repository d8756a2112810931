"""The backward pass with checkpoints that are not there yet.

# Note [What a checkpoint changes]
Of the nodes inside a module some have saved something. A checkpoint around it keeps its inputs until the last of these has run,
and computes the rest again when backward comes to the first. A block that nodes outside use too is held for them, and a second
one is made. What a variable of the user's holds, and what hooks have packed, stays.
Calls of one module count as one: all compute again when backward comes to the last call.
Equal parts of one list are also tried together, each with a checkpoint of its own.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...graph.guess import LISTS
from ...graph.paths import Path
from ...graph.storages import ACTIVATION
from .curve import Moment, unsaved_inputs
from .facts import Facts, Holding, around, bytes_of


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that is not there yet."""

    paths: tuple[Path, ...]  # the modules; each has a checkpoint of its own
    name: str  # "layers.0", or "layers.0 … layers.11"
    kind: str  # the class of the modules
    holds: int  # bytes of the activations that only nodes inside them use
    saves: int  # bytes that are not held at the end of the forward pass
    peak: int  # bytes at the peak of the backward pass


@dataclass(frozen=True, slots=True)
class _Block:
    """An activation that a checkpoint may change: who made it, and the calls that use it, each with its module."""

    bytes: int
    made: Path
    uses: tuple[tuple[int, Path], ...]
    end: int  # the last of them


@dataclass(slots=True)
class Part:
    """A module: the calls of its nodes; blocks by number; inputs that no node has saved, with their bytes."""

    path: Path
    first: int
    last: int
    again: int = -1  # the first of a node that has saved something
    until: int = -1  # the last
    passing: int = 0  # bytes that only the last op needs while it computes again, beyond the gradients that the call makes
    used: dict[int, None] = field(default_factory=dict)  # an ordered set: blocks that its nodes use, or that it was given
    given: set[int] = field(default_factory=set)
    unsaved: dict[str, int] = field(default_factory=dict)


class Checkpoints:
    """The pass of some facts, with a checkpoint around any of its modules."""

    def __init__(self, facts: Facts, curve: Sequence[Moment]) -> None:
        self.facts, self.heights = facts, [m.bytes for m in curve]  # heights: bytes at each call without any
        can_move = (h for h in facts.holdings if h.storage.kind == ACTIVATION and not h.storage.name)
        moving = [h for h in can_move if not any(u.is_packed for u in h.storage.uses)]
        self._blocks = [self._block(h) for h in moving]
        found: dict[Path, Part] = {}
        for i, id in enumerate(facts.calls):
            for path in around(facts.paths[id]):
                found.setdefault(path, Part(path, i, i)).last = i
        self._fill(found, {t: b for b, h in enumerate(moving) for t in h.storage.tensors})
        for i in sorted({facts.place[u.node] for h in facts.holdings for u in h.storage.uses}):
            for part in (found[path] for path in around(facts.paths[facts.calls[i]])):
                part.until = i
                if part.again < 0:
                    part.again = i
                    part.passing = max(0, unsaved_inputs(facts, facts.nodes[facts.calls[i]]) - curve[i].sent)
        called = (p for p in found.values() if facts.module_of(p.path) not in ("", *LISTS))
        self.parts = {p.path: p for p in called if any(b not in p.given for b in p.used)}  # the modules that may have one

    def _block(self, h: Holding) -> _Block:
        facts, uses = self.facts, tuple((self.facts.place[u.node], self.facts.paths[u.node]) for u in h.storage.uses)
        tensor = next((t for t in h.storage.tensors if t in facts.makers), None)
        # the module that made it, or what it is a view of; of a guessed program most makers are unknown
        makers = [maker for t in facts.views(tensor) if (maker := facts.makers.get(t)) is not None]
        made = facts.op_paths[makers[-1].id] if makers else () if h.storage.tensors and not facts.is_guessed else h.path
        return _Block(h.storage.bytes, made, uses, max(place for place, _ in uses))

    def _fill(self, parts: dict[Path, Part], lies: dict[str, int]) -> None:
        """What the nodes of each part use, and what the part is given."""
        facts = self.facts
        for b, block in enumerate(self._blocks):
            for _, path in block.uses:
                for part in (parts[above] for above in around(path)):
                    part.used[b] = None
                    if not is_inside(block.made, part.path):
                        part.given.add(b)
        for op in facts.document.ops:
            for tensor in (o.tensor for o in op.inputs if o.tensor in facts.makers):  # any other is a leaf: it is held anyway
                source = facts.viewed(tensor)
                made_in = facts.op_paths[facts.makers[tensor].id]
                for part in (parts[p] for p in around(facts.op_paths[op.id]) if p in parts and not is_inside(made_in, p)):
                    if source in lies:
                        part.used[lies[source]] = None
                        part.given.add(lies[source])
                    elif source not in facts.held and source in facts.makers:
                        part.unsaved[source] = bytes_of(facts.tensors[source].value)

    def holds(self, path: Path) -> int:
        """The bytes of the activations that only nodes inside a part use."""
        blocks = (self._blocks[b] for b in self.parts[path].used)
        return sum(b.bytes for b in blocks if all(is_inside(used_in, path) for _, used_in in b.uses))

    def changes(self, paths: Iterable[Path]) -> dict[int, int]:
        """By call, how the bytes change there, and from there on: see Note [What a checkpoint changes]."""
        found: dict[int, int] = defaultdict(int)
        touched: dict[int, list[Part]] = defaultdict(list)
        unsaved: dict[str, tuple[int, int]] = {}

        def is_there(size: int, first: int, last: int) -> None:
            found[first] += size
            found[last + 1] -= size

        for part in (self.parts[path] for path in paths):
            for b in part.used:
                touched[b].append(part)
            is_there(part.passing, part.again, part.again)
            for tensor, size in part.unsaved.items():
                unsaved[tensor] = size, max(part.until, unsaved.get(tensor, (0, 0))[1])
        for size, last in unsaved.values():
            is_there(size, 0, last)
        for block, parts in ((self._blocks[b], parts) for b, parts in touched.items()):
            again = [p for p in parts if is_inside(block.made, p.path)]
            held = [p.until for p in parts if p not in again]
            held += [place for place, path in block.uses if not any(is_inside(path, p.path) for p in again)]
            is_there(-block.bytes, 0, block.end)
            if held:
                is_there(block.bytes, 0, max(held))
            for part in again:
                is_there(block.bytes, part.again, max(place for place, path in block.uses if is_inside(path, part.path)))
        return found

    def heights_with(self, paths: Iterable[Path]) -> list[int]:
        """The bytes at each call with a checkpoint around each of some parts, none of which is inside another."""
        changes = self.changes(paths)
        sums = itertools.accumulate(changes.get(i, 0) for i in range(len(self.heights)))
        return [height + change for height, change in zip(self.heights, sums, strict=True)]


def checkpoints_of(checkpoints: Checkpoints) -> list[Checkpoint]:
    """For each module inside the model, and for equal parts of a list. The first lowers the peak most."""
    parts, facts = checkpoints.parts, checkpoints.facts
    groups: list[tuple[tuple[Path, ...], str]] = [((path,), ".".join(path)) for path in parts]
    groups += [(paths, f"{'.'.join(paths[0])} … {'.'.join(paths[-1])}") for paths in _siblings(facts, parts)]
    found = []
    for paths, name in groups:
        heights = checkpoints.heights_with(paths)
        saves = checkpoints.heights[0] - heights[0]
        if saves > 0:
            holds = sum(map(checkpoints.holds, paths))
            found.append(Checkpoint(paths, name, facts.module_of(paths[0]), holds, saves, max(heights)))
    return sorted(found, key=lambda c: (c.peak, -c.saves))


def _siblings(facts: Facts, parts: Iterable[Path]) -> Iterator[tuple[Path, ...]]:
    """The parts of a list that have one class: `layers.0`, `layers.1`, …"""
    groups: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in parts:
        if path[-1].isdecimal() and (kind := facts.module_of(path)):
            groups[path[:-1], kind].append(path)
    return (tuple(sorted(paths, key=lambda p: int(p[-1]))) for paths in groups.values() if len(paths) > 1)


def is_inside(path: Path, part: Path) -> bool:
    """Is it the path of a part, or of something in it?"""
    return path[: len(part)] == part
