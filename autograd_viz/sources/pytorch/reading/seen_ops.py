"""Ops that `watch()` has seen and that have no node left: what made a detached tensor, as a teacher under `no_grad`.

# Note [What is known of them]
Function, line, and those inputs that have a history or require grad. Of their results only the last is alive, so the others
have no shape. An op from before the latest pass is not followed: a state that goes from batch to batch leads back to the first.
Neither is one that changes a tensor in place: an average of weights would lead to what they were averaged from.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeGuard

from .boxes import Box, Boxes
from .handles import Event, Handle, is_parameter, stand_for
from .nodes import Metadata
from .op_pages import KEY, SeenOp, op_numbered, op_of_node, op_that_made, results
from .parts import NOWHERE

SAME = {"data": "detach"}  # functions by which a recording calls them
TRACKED = ("", "op", "behind")  # why a result has no history, where grad mode was on


class SeenOps:
    """Those behind the nodes of a graph, whose tensors are `boxes`."""

    def __init__(self, nodes: Iterable[Any], boxes: Boxes, outputs_of: Callable[[Any], tuple[Metadata, ...]]) -> None:
        self._boxes, self._outputs_of = boxes, outputs_of
        self._nodes = {number: node for node in nodes if (number := node.metadata.get(KEY)) is not None}
        self._numbers = sorted(self._nodes)
        latest = op_numbered(self._numbers[-1]) if self._numbers else None
        self._age = None if latest is None else latest.age
        self._results: dict[int, Handle] = {}  # by the number of an op

    def result_in(self, box: Box) -> Handle | None:
        """The tensor of a box as the result of an op; None if nobody has seen one."""
        if self._age is None or box.edge is not None or box.handle is not None or box.tensor is None or box.requires_grad:
            return None
        op = op_that_made(box.tensor)
        return self._result(op, box.tensor) if self._is_followed(op) else None

    def given(self, node: Any) -> list[Handle]:
        """What the op of a node was given that has no history."""
        op = None if self._age is None else op_of_node(node)
        return [] if op is None else [self._result(g) for g in op.given if self._is_followed(g) and g.cut]

    def _is_followed(self, given: object) -> TypeGuard[SeenOp]:
        if not isinstance(given, SeenOp) or given.age != self._age or given.number in self._nodes:
            return False
        return not given.name.endswith("_") or given.name.endswith("__")

    def _result(self, op: SeenOp, tensor: Any = None) -> Handle:
        """The result of an op, which leads to all ops behind it."""
        todo, new = [(op, tensor)], list[tuple[Event, list[Any]]]()
        while todo:
            one, result = todo.pop()
            if one.number not in self._results:
                event, given = self._event(one), one.given
                self._results[one.number] = handle = stand_for(result, event, requires_grad=not one.cut)
                event.made([handle])
                new.append((event, given))
                todo += [(g, None) for g in given if self._is_followed(g)]
        for event, given in new:
            event.inputs = tuple(i for g in given if (i := self._input(g)) is not None)
        return self._results[op.number]

    def _input(self, given: Any) -> Handle | Box | None:
        """What an op was given: the result of an op that has no node, or of one that has, or a leaf."""
        if self._is_followed(given):
            return self._results[given.number]
        leaf = given if not isinstance(given, SeenOp) else self._averaged.get(given.number)
        if leaf is not None:
            return self._boxes.of(leaf)
        node = self._nodes.get(given.number)
        return self._boxes.at(node, 0) if node is not None and len(self._outputs_of(node)) == 1 else None

    @cached_property
    def _averaged(self) -> dict[int, Any]:
        """Parameters that an op has changed in place, by its number."""
        return {number: t for t, number in results() if is_parameter(t)}

    def _event(self, op: SeenOp) -> Event:
        event = Event(SAME.get(op.name, op.name), (), None, NOWHERE, is_tracked=op.cut in TRACKED)
        event._code, event._lasti = op.line or (None, 0)
        before = bisect_left(self._numbers, op.number) - 1
        event.sequence = self._nodes[self._numbers[before]]._sequence_nr() if before >= 0 else -1
        event.tick = op.number
        return event
