"""What a checkpoint around each module would save.

# Note [What a checkpoint changes]
A checkpoint around a module keeps its inputs, and computes the rest again when backward comes to its first node.
Until then the activations inside it are not held. What is held all the same: its inputs, what nodes outside have saved too, and
what a variable of the user's holds. The inputs are held until its last node has run.
Calls of one module count as one: all compute again when backward comes to the last call.
Equal parts of one list are also tried together, each with a checkpoint of its own.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...graph.guess import LISTS, common
from ...graph.paths import Path
from ...graph.storages import ACTIVATION
from .curve import Moment
from .facts import Facts, Holding, bytes_of

Inputs = dict[str, tuple[Holding | None, int]]  # by tensor: its block, if it is saved, and its bytes


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that is not there yet."""

    paths: tuple[Path, ...]  # the modules; each has a checkpoint of its own
    name: str  # "layers.0", or "layers.0 … layers.11"
    kind: str  # the class of the modules
    holds: int  # bytes of the activations inside them
    saves: int  # bytes that are not held at the end of the forward pass
    peak: int  # bytes at the peak of the backward pass


@dataclass(frozen=True, slots=True)
class _Part:
    """What a checkpoint around one module changes: bytes, and the first and last call of its nodes."""

    holds: int
    gone: int
    kept: int
    first: int
    last: int


def checkpoints_of(facts: Facts, curve: Sequence[Moment]) -> list[Checkpoint]:
    """For each module inside the model, and for equal parts of a list. The first lowers the peak most."""
    parts = _parts(facts)
    heights = [m.bytes for m in curve]
    groups: list[tuple[tuple[Path, ...], str]] = [((path,), ".".join(path)) for path in parts]
    groups += [(paths, f"{'.'.join(paths[0])} … {'.'.join(paths[-1])}") for paths in _siblings(facts, parts)]
    found = []
    for paths, name in groups:
        chosen = [parts[path] for path in paths]
        saves = sum(p.gone - p.kept for p in chosen)
        if saves > 0:
            kind = facts.module_of(paths[0])
            found.append(Checkpoint(paths, name, kind, sum(p.holds for p in chosen), saves, _peak(heights, chosen)))
    return sorted(found, key=lambda c: (c.peak, -c.saves))


def _siblings(facts: Facts, parts: dict[Path, _Part]) -> Iterator[tuple[Path, ...]]:
    """The parts of a list that have one class: `layers.0`, `layers.1`, …"""
    groups: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in parts:
        if path[-1].isdecimal() and (kind := facts.module_of(path)):
            groups[path[:-1], kind].append(path)
    return (tuple(sorted(paths, key=lambda p: int(p[-1]))) for paths in groups.values() if len(paths) > 1)


def _peak(heights: list[int], parts: list[_Part]) -> int:
    """The peak of the pass with these checkpoints: see Note [What a checkpoint changes]."""
    changes = [0] * (len(heights) + 1)
    for p in parts:
        changes[0] += p.kept - p.gone
        changes[p.first] += p.gone
        changes[p.last + 1] -= p.kept
    return max(h + c for h, c in zip(heights, itertools.accumulate(changes), strict=False))


def _parts(facts: Facts) -> dict[Path, _Part]:
    place = {id: i for i, id in enumerate(facts.calls)}
    calls: dict[Path, list[int]] = defaultdict(list)
    for id in facts.calls:
        for path in _around(facts.paths[id]):
            calls[path].append(place[id])
    inside: dict[Path, list[Holding]] = defaultdict(list)
    for h in facts.holdings:
        if h.storage.kind == ACTIVATION and not h.storage.name and not any(u.is_packed for u in h.storage.uses):
            for path in _around(common([facts.paths[u.node] for u in h.storage.uses])):
                inside[path].append(h)
    inputs = _inputs(facts)
    return {
        path: _part(inside[path], inputs[path], min(at), max(at))
        for path, at in calls.items()
        if inside[path] and facts.module_of(path) not in ("", *LISTS)
    }


def _part(inside: list[Holding], inputs: Inputs, first: int, last: int) -> _Part:
    stays = {t for h in inside for t in h.storage.tensors if t in inputs}
    gone = sum(h.storage.bytes for h in inside if not stays.intersection(h.storage.tensors))
    return _Part(sum(h.storage.bytes for h in inside), gone, sum(n for h, n in inputs.values() if h is None), first, last)


def _inputs(facts: Facts) -> dict[Path, Inputs]:
    """The activations that each module is given."""
    found = defaultdict[Path, Inputs](dict)
    for op in facts.document.ops:
        for tensor in (o.tensor for o in op.inputs if o.tensor in facts.makers):  # any other is a leaf: it is held anyway
            made_in, source = facts.op_paths[facts.makers[tensor].id], facts.viewed(tensor)
            held, t = facts.held.get(source), facts.tensors[source]
            if source in facts.makers and t.requires_grad and not (held is not None and held.storage.name):
                for around in _around(facts.op_paths[op.id]):
                    if made_in[: len(around)] != around:
                        found[around][source] = held, bytes_of(t.value)
    return found


def _around(path: Path) -> Iterator[Path]:
    return (path[:k] for k in range(1, len(path) + 1))
