"""What led to some PyTorch tensors: the nodes, the ops and the boxes of their tensors, without ids."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from .boxes import Box, Boxes
from .deep import make_freeable
from .devices import wait_for
from .dry_run import learn
from .forward import inputs_of, reconstructed
from .handles import KEY, Event, Handle
from .nodes import asked, edge_of, grad_fn_of, is_accumulate, outputs_of, reach, variable_of
from .saved import Kept, saved_of


def event_of(node: Any) -> Event | None:
    """The op of a node, if it was recorded."""
    event = None if is_accumulate(node) else node.metadata.get(KEY)
    return event if isinstance(event, Event) else None


class FoundGraph:
    """Everything that led to the roots.

    Args:
        roots: where to start.

    Attributes:
        nodes: the nodes that backward would call.
        saved: what each node has saved.
        boxes: the tensors.
        operands: the operands of each op, by its node, or by its event if it has no node.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.roots = tuple(roots)
        self.outputs_of = functools.cache(outputs_of)  # cached: PyTorch makes it anew each time
        self.event_of = functools.cache(event_of)
        self.boxes = Boxes()
        self.nodes: dict[Any, None] = {}
        self._by_number: dict[int, Any] = {}
        self.saved: dict[Any, list[Kept]] = {}
        self.operands: dict[Any, list[Box | str]] = {}  # by node, or by the event of an op without a node
        for root in self.roots:
            self._add_nodes(edge_of(root)[0])
            learn(root)
        make_freeable(self.nodes)
        wait_for([*(t.device for t in self.roots), *(m.device for n in self.nodes for m in self.outputs_of(n))])
        makers = [box.maker for box in map(self.boxes.of, self.roots) if box.edge is None and box.maker is not None]
        self._add_ops([*self.nodes, *makers])
        self._join_ops()

    def _add_nodes(self, start: object) -> list[Any]:
        new, todo = [], [start]
        while todo:
            found = [n for n in reach([todo.pop()]) if n not in self.nodes]
            new += found
            for node in found:
                self.nodes[node] = None
                if not is_accumulate(node):
                    self._by_number[node._sequence_nr()] = node
                    self.saved[node] = list(saved_of(node))
                else:
                    self.saved[node] = []
                    self.boxes.of(variable_of(node))
                    todo.append(grad_fn_of(asked(variable_of(node))))  # changed in place since, the leaf has a grad_fn
        return new

    def _add_ops(self, todo: list[Any]) -> None:
        """The operands of every node's op, and of the ops without a node that led to them."""
        while todo:
            item = todo.pop()
            if item in self.operands or (not isinstance(item, Event) and is_accumulate(item)):
                continue
            event = item if isinstance(item, Event) else self.event_of(item)
            if event is None:
                self.operands[item] = reconstructed(item, self.saved[item], self.boxes)
                continue
            outputs = event.outputs
            for handle in (*event.inputs, *outputs):
                if isinstance(handle, Handle):
                    todo += (led for led in self._behind(handle, event.behind) if led is not event)
            self.operands[item] = inputs_of(event, self._box_of)
            for handle in outputs:
                if handle is not None and (handle.edge is not None if item is not event else handle.ref() is not None):
                    self._box_of(handle)

    def _join_ops(self) -> None:
        """Merge what is one op. It was reached by its node and by a result that is not differentiable (indices, a mask)."""
        self._events = {event for event in map(self.event_of, self.nodes) if event is not None}
        for event in self._events:
            self.operands.pop(event, None)

    def _behind(self, handle: Handle, behind: tuple[Any, ...]) -> list[Any]:
        """What led to a recorded tensor that is not in the graph yet."""
        if handle.edge is not None and handle.edge[0] not in self._by_number:
            live = handle.ref()
            for node in (*behind, *([] if live is None else [grad_fn_of(live)])):
                if node is not None and node._sequence_nr() == handle.edge[0]:
                    return self._add_nodes(node)
        return [handle.maker] if handle.edge is None and handle.maker is not None else []

    def _box_of(self, handle: Handle) -> Box:
        return self.boxes.of_handle(handle, None if handle.edge is None else self._by_number.get(handle.edge[0]))
