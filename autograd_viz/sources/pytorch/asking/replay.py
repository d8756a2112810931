"""Runs the last pass again for its numbers, and takes it back.

# Note [Changed since]
After `optimizer.step()` saved weights are at a later version, and PyTorch would refuse them. During the replay their version
counters are set back. The weights have their present values, and the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import Node

from ....graph.model import Value
from ....graph.trace import Step
from ...shared.questions import numbers_of
from ..reading import older
from ..reading.graph import TorchGraph
from ..reading.nodes import edge_of, reach, variable_of
from ..reading.saved_memory import VERSION, reading, saved_tensors
from ..reading.values import unseen
from ..stepping.node_pass import TorchPass

VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
MOST = 20_000  # nodes of the largest pass that is run again


class Replayed(NamedTuple):
    """What a pass sent when it ran again."""

    numbers: Mapping[str, Value | None]
    changed: tuple[Any, ...]


def replayed(graph: TorchGraph, root: torch.Tensor, gradient: torch.Tensor | None) -> Replayed:
    """What ``root.backward(gradient)`` sends through a graph that is not freed. The pass is taken back.

    It may stop early, as a saved tensor may be gone.
    """
    if len(graph.nodes) > MOST:
        return Replayed({}, ())
    then = versions_then(graph.nodes)
    try:
        live = KeptPass(graph, root, gradient, then)
    except RuntimeError:  # no pass can start there
        return Replayed({}, ())
    done = 0
    with live.untouched():
        try:
            while live.advance() is not None:
                done += 1
        except Exception:  # a saved tensor is gone, or the user's code raised: the steps before it count
            pass
        numbers = numbers_of(live.seen(), graph.node_ids)
        numbers = {at: value for at, value in numbers.items() if not at.startswith("before:")}  # a grad of now
        for index in reversed(range(done)):
            live.undo(index)
    return Replayed(numbers, tuple(then))


class KeptPass(TorchPass):
    """A pass that has run, and runs again. Leaves that have changed since count as unchanged."""

    def __init__(self, graph: TorchGraph, root: torch.Tensor, gradient: torch.Tensor | None, then: Mapping[Any, int]) -> None:
        self._then = then
        with as_it_was(then):
            super().__init__(graph, root, gradient, True, False)

    def advance(self) -> Step | None:
        """Run one node for real."""
        with as_it_was(self._then):
            return super().advance()

    def redo(self, index: int) -> bool:
        """Do a step again."""
        with as_it_was(self._then):
            return super().redo(index)

    def lost(self, node: Node) -> dict[str, str]:
        """The saved tensors that the replay cannot use either."""
        with as_it_was(self._then):
            return super().lost(node)


def last_pass(
    root: torch.Tensor, gradient: torch.Tensor | None, variables: Mapping[str, Any]
) -> tuple[TorchGraph, Callable[[], KeptPass], list[str]]:
    """The pass that was kept: its graph, a maker of a pass through it, and the names of leaves changed since."""
    then = versions_then(reach([edge_of(root)[0]]))
    with as_it_was(then):
        graph = TorchGraph((root,), variables)
    changed = [graph.names.get(leaf) or "" for leaf in then]
    return graph, lambda: KeptPass(graph, root, gradient, then), changed


@unseen
def versions_then(nodes: Iterable[Any]) -> dict[Any, int]:
    """The leaves that have changed since nodes saved them, with their old versions."""
    nodes = list(nodes)
    leaves = {v: n for n in nodes if (v := variable_of(n)) is not None and not v.is_inference()}
    now = {v: v._version for v in leaves}
    then = {v: known for v, n in leaves.items() if (known := n.metadata.get(VERSION, now[v])) != now[v]}
    try:
        with reading():
            for node in nodes:
                _find(node, now, then)
    finally:
        older.set_versions({v: now[v] for v in then})
    return then


def _find(node: Node, now: Mapping[Any, int], then: dict[Any, int]) -> None:
    """Find the versions that the node accepts: set back each one that it refuses."""
    for _ in now:
        try:
            saved_tensors(node, quiet=False)
            return
        except (RuntimeError, AttributeError) as error:
            found = VERSIONS.search(str(error))
        fits = [v for v in now if found is not None and v not in then and v._version == int(found.group(1))]
        if found is None or not fits:
            return
        then.update(dict.fromkeys(fits, int(found.group(2))))
        older.set_versions(dict.fromkeys(fits, int(found.group(2))))


@contextmanager
def as_it_was(then: Mapping[Any, int]) -> Iterator[None]:
    """Inside, leaves have their old versions, and closed nodes give what they have saved."""
    now = {v: v._version for v in then}
    older.set_versions(then)
    try:
        with reading():
            yield
    finally:
        older.set_versions(now)
