"""What led to some PyTorch tensors: the nodes, the ops and the boxes of their tensors, without ids.

# Note [Deep graphs]
PyTorch frees a graph without recursion, except for nodes that Python has seen (in 2.13). Each of those frees the next from
within, and some 40,000 in a row overflow the C stack. Whoever walks a graph has seen all nodes. So every STRETCH nodes, one
gets a keeper of the nodes after it. When that node dies, they stay until the garbage collector or the next walk frees them.

# Note [Streams]
The engine calls a node on the stream of its op, with the device of its gradients as the current one. A call by hand runs on the
current stream. So all work on the device is waited for: before the call, after it, and before values are read. Then every order
of streams is safe, and no memory is reused while a kernel reads it.

# Note [Ops without a node]
`watch()` has seen ops that have no node left: what made a detached tensor, as a teacher under `no_grad`. Known are the
function, the line, and those inputs that have a history or require grad. Of their results only the last is alive, so the others
have no shape. An op from before the latest pass is not followed: a state that goes from batch to batch leads back to the first.
Neither is one that changes a tensor in place: an average of weights would lead to what they were averaged from.
"""

from __future__ import annotations

import functools
import gc
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeGuard

import torch

from . import older
from .boxes import Box, Boxes
from .calls import NOWHERE
from .dry_run import learn
from .forward import NUMBER, reconstruct
from .handles import KEY, Event, Handle, is_parameter, stand_for
from .nodes import COMPILED, Edge, Metadata, edge_of, grad_fn_of, is_accumulate, outputs_of, reach, stand_in, variable_of
from .op_pages import KEY as OP
from .op_pages import SeenOp, op_numbered, op_of_node, op_that_made, results
from .region_op import RegionOp
from .regions import Region, opened
from .saved import SavedValue, saved_of

WITH_INDEX = {"cuda", "xpu"}  # their `synchronize` takes a device


def wait_for(devices: Iterable[Any]) -> list[Any]:
    """Wait until the accelerators among these have finished all work. Returns them, each once."""
    there = [d for d in dict.fromkeys(devices) if d is not None and d.type not in ("cpu", "meta")]
    for d in there:
        synchronize = getattr(getattr(torch, d.type, None), "synchronize", None)
        if synchronize is not None:
            synchronize(*([d] if d.type in WITH_INDEX else []))
    return there


@contextmanager
def called_on(devices: Iterable[Any]) -> Iterator[None]:
    """Inside, a node may be called by hand; the first accelerator is the current device."""
    there = wait_for(devices)
    current = getattr(getattr(torch, there[0].type, None), "device", None) if there else None
    with current(there[0]) if current is not None else nullcontext():
        yield
    wait_for(there)


STRETCH = 5_000
KEEPER = "autograd_viz.keeper"  # in node.metadata
_left: deque[Any] = deque()


class _Keeper:
    """Keeps the nodes after one node alive."""

    __slots__ = ("_after",)

    def __init__(self, after: list[Any]) -> None:
        self._after = after

    def __del__(self) -> None:
        _left.extend(self._after)
        if _free not in gc.callbacks:
            gc.callbacks.append(_free)


def make_freeable(nodes: Collection[Any]) -> None:
    """Give every long row of a graph's nodes, which are in the order of the forward pass, its keepers."""
    free_what_is_left()
    if len(nodes) <= STRETCH:
        return
    length: dict[Any, int] = {}
    for node in nodes:
        after = [n for n, _ in node.next_functions if n is not None]
        length[node] = 1 + max((length.get(n, 0) for n in after), default=0)
        if length[node] == STRETCH:
            node.metadata[KEEPER] = _Keeper(after)
            length[node] = 0


def free_what_is_left() -> None:
    """Free the nodes that keepers have kept; this may leave more."""
    while _left:
        _left.pop()


def _free(phase: str, info: dict[str, int]) -> None:
    if phase == "stop":
        free_what_is_left()
        gc.callbacks.remove(_free)


def event_of(node: Any) -> Event | None:
    """The op of a node, if it was recorded."""
    event = None if is_accumulate(node) else node.metadata.get(KEY)
    return event if isinstance(event, Event) else None


SAME = {"data": "detach"}  # functions by which a recording calls them
TRACKED = ("", "op", "behind")  # why a result has no history, where grad mode was on


class SeenOps:
    """Those behind the nodes of a graph, whose tensors are `boxes`."""

    def __init__(self, nodes: Iterable[Any], boxes: Boxes, outputs_of: Callable[[Any], tuple[Metadata, ...]]) -> None:
        self._boxes, self._outputs_of = boxes, outputs_of
        self._nodes = {number: node for node in nodes if (number := node.metadata.get(OP)) is not None}
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

    @functools.cached_property
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


class FoundGraph:
    """Everything that led to the roots. `opens`: compiled regions are opened."""

    def __init__(self, roots: Iterable[Any], opens: bool = True) -> None:
        self.roots = tuple(roots)
        self.outputs_of = functools.cache(outputs_of)  # cached: PyTorch makes it anew each time
        self.event_of = functools.cache(event_of)
        self.boxes = Boxes()  # the tensors
        self.nodes: dict[Any, None] = {}  # that backward would call; of an open region also those in it
        self._opens = opens
        self.regions: dict[Any, Region] = {}  # the open ones, by their own node
        self._asked: set[Any] = set()  # compiled nodes, whether they can be opened or not
        self._by_number: dict[int, Any] = {}
        self.saved: dict[Any, list[SavedValue]] = {}  # what each node has saved
        self.operands: dict[Any, list[Box | str]] = {}  # by node, or by the event of an op without a node
        for root in self.roots:
            self._add_nodes(edge_of(root)[0])
            learn(root)
        make_freeable(self.nodes)
        wait_for([*(t.device for t in self.roots), *(m.device for n in self.nodes for m in self.outputs_of(n))])
        makers = [box.maker for box in map(self.boxes.of, self.roots) if box.edge is None and box.maker is not None]
        self._add_ops([*self.nodes, *makers])
        # an op may also be known by a result that is not differentiable (indices, a mask): it is one op
        self._events = {event for event in map(self.event_of, self.nodes) if event is not None}
        for event in self._events:
            self.operands.pop(event, None)
        self._add_seen()

    def edges_of(self, node: Any) -> tuple[Edge, ...]:
        """Where its gradients go; from the own node of a compiled region into the region, if that can be opened."""
        if self._opens and type(node).__name__ == COMPILED and node not in self._asked:
            self._asked.add(node)
            if not older.IS_OLDER and (region := opened(node)) is not None:
                self.regions[node] = region
        return self.regions.get(node, node).next_functions  # type: ignore[no-any-return]

    def _add_nodes(self, start: object) -> list[Any]:
        new, todo = [], [start]
        while todo:
            found = [n for n in reach([todo.pop()], self.edges_of) if n not in self.nodes]
            new += found
            for node in found:
                self.nodes[node] = None
                if not is_accumulate(node):
                    self._by_number[node._sequence_nr()] = node
                    self.saved[node] = [] if node in self.regions else list(saved_of(node))
                    if isinstance(node, RegionOp) and node.result is not None:
                        self.boxes.is_saved(node.result, self.boxes.at(node, 0))
                else:
                    self.saved[node] = []
                    self.boxes.of(variable_of(node))
                    todo.append(grad_fn_of(stand_in(variable_of(node))))  # changed in place since, the leaf has a grad_fn
        return new

    def _add_ops(self, todo: list[Any]) -> None:
        """The operands of every node's op, and of the ops without a node that led to them."""
        while todo:
            item = todo.pop()
            if item in self.operands or (not isinstance(item, Event) and is_accumulate(item)):
                continue
            event = item if isinstance(item, Event) else self.event_of(item)
            if event is None or item in self.regions:
                self.operands[item] = reconstruct(item, self.edges_of(item), self.saved[item], self.boxes)
                self.operands[item] += [self.boxes.of(t) for t in item.inputs] if isinstance(item, RegionOp) else []
                continue
            outputs = event.outputs
            for handle in (*event.inputs, *outputs):
                if isinstance(handle, Handle):
                    todo += (led for led in self._behind(handle, event.behind) if led is not event)
            self.operands[item] = [self._box_of(i) if isinstance(i, Handle) else i for i in event.inputs]
            for handle in outputs:
                if handle is not None and (handle.edge is not None if item is not event else handle.ref() is not None):
                    self._box_of(handle)

    def _add_seen(self) -> None:
        """The ops without a node that nobody has recorded, but `watch()` has seen."""
        seen = SeenOps(self.nodes, self.boxes, self.outputs_of)
        for box in [*self.boxes]:
            if (handle := seen.result_in(box)) is not None:
                self.boxes.is_result(box, handle)
        for node, operands in self.operands.items():
            unknown = [k for k, operand in enumerate(operands) if operand == NUMBER]
            if len(unknown) == 1 and not isinstance(node, Event) and len(given := seen.given(node)) == 1:
                operands[unknown[0]] = self._box_of(given[0])
        self._add_ops([maker for box in self.boxes if box.edge is None and (maker := box.maker) is not None])

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
