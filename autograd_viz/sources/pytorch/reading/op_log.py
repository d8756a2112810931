"""What the recorder that stays on keeps: ops, passes, and the events of each tensor.

# Note [What is kept, and how long]
For ops see op_pages.py. An op whose result has no history (`detach`, no_grad, a comparison) is found by that result.
Everything else is bounded: the last `MOST` events of each kind, one note per storage, one entry per live leaf. An error of the
recorder's own is kept without its traceback, whose frames hold tensors.

# Note [A tensor is known by its storage]
Events are kept by storage: `w`, `w.data` and `w.detach()` share them. A weak reference to the storage prevents its address from
being used again. `torch.utils.swap_tensors` refuses a tensor with weak references, so `apart` removes them for the call.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ....graph.surroundings import Source
from ....runtime.alive import Alive
from .nodes import grad_fn_of, is_function
from .op_pages import PASSES, Leaf, Line, OpRecord, Ops, name_of_function, op_numbered, op_of_node, source_of

MOST = 1000  # events of a kind
NOTES = 20_000  # storages with notes, and leaves


@dataclass(eq=False, repr=False, slots=True)
class Event:
    """Something that happened to a tensor, at a line."""

    kind: str  # "made", "cleared", "written", "switched_on", "switched_off", "data", ...
    name: str  # the function that did it
    line: Line | None  # the user's
    number: int  # rises with time
    detail: Any = None  # more about it: the library function that was called, the new value
    leaves: list[int] = field(default_factory=list)  # that a call of zero_grad() has cleared

    @property
    def source(self) -> Source | None:
        """Where it happened."""
        return source_of(self.line)


@dataclass(eq=False, repr=False, slots=True)
class PassRecord(Event):
    """A call of backward() or grad()."""

    made: OpRecord | int | None = None  # the op that made its root, or its number; None if it was not recorded, or is long ago
    keeps: bool = False  # it was asked to keep the graph
    wanted: bool = False  # only some inputs were asked for
    has_graph: bool = True  # its root has a grad_fn
    error: str = ""  # that it raised

    @property
    def root(self) -> OpRecord | None:
        """The op that made its root, looked up when it is read."""
        return op_numbered(self.made) if isinstance(self.made, int) else self.made

    @property
    def number_of_root(self) -> int | None:
        """The number of the op that made its root."""
        return self.made if isinstance(self.made, int) else None


class Note(NamedTuple):
    """The events of one storage: the last of each kind, and some of those that repeat."""

    ref: StorageWeakRef
    events: deque[Event]


class Log(Ops):
    """Everything that the recorder keeps."""

    def __init__(self) -> None:
        super().__init__()
        self.passes: deque[PassRecord] = deque(maxlen=MOST)  # calls of backward() and grad(), the latest last
        self.cleared: deque[Event] = deque(maxlen=MOST)  # calls of zero_grad()
        self.steps: deque[Event] = deque(maxlen=MOST)  # calls of an optimizer's step(): (number, line, optimizer)
        self.modes: deque[Event] = deque(maxlen=MOST)  # switches of grad mode
        self.switches: deque[Event] = deque(maxlen=64)  # calls that switched requires_grad off
        self.optimizers: deque[Event] = deque(maxlen=MOST)
        # what optimizers were at their first step, by the number of their birth: groups, whose leaves are numbers, and defaults
        self.first_steps: dict[int, tuple[list[dict[str, Any]], dict[str, Any]]] = {}
        self.scalers: deque[Event] = deque(maxlen=8)
        self.onto_itself: deque[Event] = deque(maxlen=64)  # writes of a tensor's own values into it
        self.seeds: deque[Event] = deque(maxlen=64)  # calls of manual_seed(); `detail` is the seed
        self.draws: deque[Event] = deque(maxlen=64)  # random tensors that were made
        self.layers: deque[Event] = deque(maxlen=64)  # dropout and batch norm, in the mode of the other use
        self.left: deque[OpRecord] = deque(maxlen=64)  # ops by which a tensor with a history became a number or an array
        self.places: deque[Event] = deque(maxlen=MOST)  # parameters and modules that were put into a module
        # what made data: (function, line, number, shape of its first input, where whole numbers were lost, order of its rows)
        self.data: Alive[tuple[Any, ...]] = Alive()
        self.met: Alive[Any] = Alive()  # the order of the rows of data that nothing known has made
        self.faults: deque[Exception] = deque(maxlen=16)  # errors inside the recorder
        self._notes: dict[int, Note] = {}

    def fault(self, error: Exception) -> None:
        """An error inside the recorder."""
        error.__traceback__ = error.__context__ = error.__cause__ = None
        self.faults.append(error)

    def __enter__(self) -> None:
        """Inside ``with log:`` an error is one of the recorder's."""

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, Exception):
            self.fault(error)
        return isinstance(error, Exception)

    def note(self, tensor: object, event: Event) -> None:
        """Remember what happened to a tensor. Nothing is remembered of a tensor without a storage."""
        storage = storage_of(tensor)
        if storage is None:
            return
        note = self._notes.get(storage._cdata)
        if note is None or note.ref.expired():
            if len(self._notes) >= NOTES:  # drop those of storages that are gone; if that is not enough, also the older half
                self._notes = {k: n for k, n in self._notes.items() if not n.ref.expired()}
                if len(self._notes) > NOTES // 2:
                    self._notes = dict(list(self._notes.items())[NOTES // 2 :])
            note = self._notes[storage._cdata] = Note(StorageWeakRef(storage), deque(maxlen=12))
        events = note.events
        last = events[-1] if events else None
        if last is not None and event.kind == last.kind == "written" and last.line == event.line and len(events) > 1:
            events.pop()  # of a line that runs again and again, keep the first and the last time
        events.append(event)

    @contextmanager
    def apart(self, tensors: Sequence[Any]) -> Iterator[None]:
        """Inside, these tensors have no weak references, and may be swapped."""
        leaves = self.part(tensors)
        made = [(kept, t, op) for kept in (self.made, self.data) for t in tensors if (op := kept.pop(t)) is not None]
        try:
            yield
        finally:
            self.join(leaves)
            for kept, t, op in made:
                kept[t] = op

    def cut(self, out: object, func: Any, line: Line, given: list[Any], cut: str) -> None:
        """An op has run whose result has no history."""
        number = self.wrote(func, *line, given)
        self.page.cuts[number] = cut
        self.made[out] = number, func, *line, cut

    def leaves_here(self, func: object, line: Line, given: list[Any]) -> None:
        """A tensor has become a number or an array, which is no use of it."""
        before = [(leaf, leaf.used) for n in given if (leaf := self._leaves.get(n)) is not None]
        number = self.wrote(func, *line, given)
        for leaf, used in before:
            leaf.used = used
        self.page.cuts[number] = "op"
        if (op := self.op(number)) is not None:
            self.left.append(op)

    def steps_first(self, optimizer: Any) -> None:
        """An optimizer is about to step for the first time: a function that has returned leaves no more of it than this."""
        born = next((e for e in reversed(self.optimizers) if e.detail() is optimizer), None)
        if born is not None:
            if len(self.first_steps) == MOST:
                del self.first_steps[next(iter(self.first_steps))]
            groups = [{**_numbers(g), "params": self._numbers_of(g["params"])} for g in optimizer.param_groups]
            self.first_steps[born.number] = groups, _numbers(getattr(optimizer, "defaults", {}))

    def _numbers_of(self, tensors: Iterable[Any]) -> list[int]:
        refs = (ref for t in tensors for ref in weakref.getweakrefs(t))
        return [ref.numbers[0] for ref in refs if type(ref) is Leaf and ref.space == self.space]

    def as_at_first_step(self, born: Event) -> Any:
        """An optimizer that is gone, as it was at its first step, with those of its leaves that live; None if it made none."""
        groups, defaults = self.first_steps.get(born.number, (None, {}))
        if groups is None:
            return None
        live = [{**g, "params": [t for n in g["params"] if (t := self.tensor(n)) is not None]} for g in groups]
        return SimpleNamespace(param_groups=live, defaults=defaults)

    def passed(self, record: PassRecord) -> None:
        """A pass begins."""
        self.next_pass()
        self.passes.append(record)
        if len(self.passes) > PASSES:
            self.passes[-PASSES - 1].made = None

    def events_of(self, tensor: object, *kinds: str) -> list[Event]:
        """What happened to a tensor, in order."""
        note = self._notes.get(getattr(storage_of(tensor), "_cdata", 0))
        return [e for e in (note.events if note is not None else ()) if e.kind in kinds or not kinds]

    def all_events(self, kind: str) -> list[Event]:
        """The events of a kind, of all tensors."""
        return [e for note in self._notes.values() for e in note.events if e.kind == kind]

    def used(self, tensor: torch.Tensor) -> Event | None:
        """The last op that had the leaf, or another leaf of its storage, as an input."""
        number = getattr(storage_of(tensor), "_cdata", None)
        same = [
            leaf for t, leaf in self.leaves() if t is tensor or (number and getattr(storage_of(t), "_cdata", None) == number)
        ]
        if not same:
            return None
        func, code, lasti, number = max((leaf.used for leaf in same), key=itemgetter(3))
        return Event("used", name_of_function(func), (code, lasti), number, min(leaf.since for leaf in same))


def _numbers(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that are numbers, or tuples of them: a tensor would be kept alive."""
    return {k: v for k, v in settings.items() if isinstance(v, int | float | tuple)}


def storage_of(tensor: Any) -> Any:
    """Its storage; None if it has none."""
    try:
        return tensor.untyped_storage()
    except (RuntimeError, ValueError):  # sparse, inside torch.func, not yet initialized, ...
        return None


def lines_of(nodes: Iterable[Any]) -> dict[Any, Source]:
    """The line of each node's op. A node that an op made inside has the line of the op; a user's Function is in no op."""
    found: dict[Any, OpRecord] = {}
    for node in sorted(nodes, key=lambda n: n._sequence_nr(), reverse=True):
        inside = None if is_function(node) else found.pop(node, None)
        own = inside if hasattr(node, "variable") else op_of_node(node) or inside
        if own is None:
            continue
        found[node] = own
        for after, _ in node.next_functions:
            if after is not None:
                found.setdefault(after, own)
    return {node: source for node, op in found.items() if (source := op.source) is not None}


def op_of(tensor: object, log: Log) -> OpRecord | None:
    """The op that made a tensor, if it was recorded."""
    node = grad_fn_of(tensor)
    if node is not None:
        return op_of_node(node)
    known = log.made.get(tensor)
    if known is None:
        return None
    number, func, code, lasti, cut = known
    return log.op(number) or OpRecord(func, (code, lasti), [], number, cut)
