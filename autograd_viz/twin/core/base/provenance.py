"""Which op made a tensor, from which inputs, and on which line. Drawings need it, and PyTorch does not keep it.

The grad_fn of a tensor in a graph remembers its op (node.py). Every other tensor has a Call.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar, Token
from operator import attrgetter, length_hint
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .grad_mode import LAST, sequence
from .kinds import Node, Tensor

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))) + os.sep
PROGRAM = "<autograd_viz op "  # the file name of a generated program begins with it (call.py)
_clock = itertools.count(1)

UNTRACKED_DEPTH = 64  # of a chain of results without gradients, so that a loop over constants uses constant memory
CUTS = 8  # the latest calls that detach keep their graph; truncated backpropagation through time would keep all
AGAIN = 8  # events remembered of a statement in a loop
_cuts: deque[weakref.ref[Call]] = deque()
REMEMBERED = 8  # in-place changes of one memory whose lines are remembered


class Place(NamedTuple):
    """A point in running code. `co_positions` gives the exact sub-expression when it is needed."""

    code: CodeType
    lasti: int


def now() -> tuple[int, int]:
    """The present position in the order of all ops and events."""
    return (LAST - length_hint(sequence), next(_clock))  # a range knows how many numbers are left: the newest node's is known


# The files that called ops, by whether they are of this package. Every op asks them first.
ours, theirs = {contextlib.__file__}, set[str]()  # contextlib runs between two of our frames


def is_ours(file: str) -> bool:
    """Is a file part of this package?"""
    if file in ours:
        return True
    (ours if file.startswith((PACKAGE, PROGRAM)) else theirs).add(file)
    return file not in theirs


# A running frame of this package, and the user's frame below it: a walk that meets the first need not go on to the second.
# True: only this package runs above the first, so no walk is needed.
_known: ContextVar[tuple[FrameType | None, FrameType | None, bool]] = ContextVar("known frame", default=(None, None, False))
forget_frame = _known.reset
foreign_rules: list[str] = []  # the ops that have a rule from outside this package


def know_frame(is_last: bool = False) -> Token[Any]:
    """Find the user's frame once for the ops that its caller will run (is_last: only rules), until `forget_frame(token)`."""
    frame = sys._getframe(1)
    return _known.set((frame, users_frame(frame), is_last and not foreign_rules))


def users_frame(frame: FrameType) -> FrameType:
    """The innermost frame outside this package, from `frame` outwards, which is of this package."""
    known, user, is_last = _known.get()
    if is_last and user is not None:
        return user
    while frame is not known:
        if (outer := frame.f_back) is None:
            return frame
        frame = outer
        if (file := frame.f_code.co_filename) in theirs or not is_ours(file):
            return frame
    assert user is not None
    return user


def callers_frame() -> FrameType:
    """The innermost frame outside this package."""
    return users_frame(sys._getframe(1))


def callers_place() -> Place:
    """The present place in the innermost frame outside this package; the caller is in it."""
    frame = sys._getframe(2)
    code = frame.f_code
    if (file := code.co_filename) not in theirs and is_ours(file):
        frame = users_frame(frame)
        code = frame.f_code
    return Place(code, frame.f_lasti)


class Call:
    """One op that recorded no node, or a call of a Function. The tensor keeps its call, and the call keeps its inputs.

    `op` is the name as in ``torch.<op>``; for a tensor made from numbers, the factory's name. A number is a 0-d input.
    """

    __slots__ = ("__weakref__", "_node", "at", "depth", "inputs", "op", "options", "order", "outputs")

    def __init__(self, op: str, inputs: tuple[Any, ...], options: dict[str, Any] | None, at: Place) -> None:
        self.op, self.inputs, self.options, self.at = op, inputs, options or {}, at
        self.order = now()
        self.depth = 0  # how many untracked calls this one depends on, in a chain
        self._node: weakref.ref[Any] | None = None  # weak, because the node holds the call
        self.outputs: tuple[weakref.ref[Any], ...] = ()  # the results, if there are several

    @property
    def node(self) -> Any:
        """The node of this call's Function while it is alive. Other nodes have no Call (node.py)."""
        return None if self._node is None else self._node()

    @node.setter
    def node(self, node: Node) -> None:
        self._node = weakref.ref(node)


class Event(NamedTuple):
    """An action on a tensor that is not an op: retain_grad(), requires_grad = True, backward()."""

    kind: str
    order: tuple[int, int]
    at: Place


class Statement:
    """One statement that did `kind` to a tensor, with the last AGAIN times at which it ran."""

    __slots__ = ("code", "kind", "lasti", "orders")

    def __init__(self, kind: str, code: CodeType, lasti: int, order: tuple[int, int]) -> None:
        self.kind, self.code, self.lasti, self.orders = kind, code, lasti, deque((order,), AGAIN)


def note(tensor: Tensor, kind: str) -> None:
    """Remember that the user did `kind` to `tensor` here. In a loop, the last AGAIN times are remembered."""
    frame = sys._getframe(2)
    code = frame.f_code
    if (file := code.co_filename) not in theirs and is_ours(file):
        frame = users_frame(frame)
        code = frame.f_code
    lasti, order = frame.f_lasti, (LAST - length_hint(sequence), next(_clock))
    statements = (tensor._extra or tensor._more).statements
    for s in statements:
        if s.lasti == lasti and s.kind == kind and (s.code is code or s.code == code):  # a cell that runs again is equal
            s.orders.append(order)
            return
    statements.append(Statement(kind, code, lasti, order))


def events_of(statements: Iterable[Statement]) -> tuple[Event, ...]:
    """What was noted, in order."""
    found = (Event(s.kind, order, Place(s.code, s.lasti)) for s in statements for order in s.orders)
    return tuple(sorted(found, key=attrgetter("order")))


def note_change(tensor: Tensor, at: tuple[Any, int] | None = None) -> None:
    """Remember the line that made this version: here, or `at`. It stands beside the version counter of the memory."""
    counter: Any = tensor._counter
    if at is None:
        frame = users_frame(sys._getframe(1))
        at = frame.f_code, frame.f_lasti
    if type(counter) is list:  # the counter of an inference tensor is of another type
        counter.insert(1, (counter[0] - 1, at))
        if len(counter) > REMEMBERED:
            counter.pop()


def untracked(op: str, inputs: tuple[Any, ...], options: dict[str, Any] | None, frame: FrameType) -> Call:
    """The call of an op that recorded no node."""
    call = Call(op, inputs, options, Place(frame.f_code, frame.f_lasti))
    depth = 0
    for t in inputs:
        if t is not None and t._made_by is not None and t._made_by.depth > depth:
            depth = t._made_by.depth
    call.depth = depth + 1
    if call.depth > UNTRACKED_DEPTH:
        call.inputs, call.depth = (), 0
    if any(t is not None and t._node is not None for t in inputs):
        _cuts.append(weakref.ref(call))
        if len(_cuts) > CUTS and (oldest := _cuts.popleft()()) is not None:
            oldest.inputs, oldest.depth = (), 0
    return call


def record(op: str, result: Tensor) -> None:
    """Remember the factory of a tensor made from numbers."""
    result._made_by = Call(op, (), None, callers_place())
