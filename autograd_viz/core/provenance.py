"""Which op made a tensor, from what, and where in the user's code: what a drawing needs and PyTorch does not keep."""

from __future__ import annotations

import itertools
import os
import sys
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_order = itertools.count()

# A chain of results that nobody differentiates is remembered this far back and no further,
# so that a loop over constants keeps flat memory.
UNTRACKED_DEPTH = 64


class Place(NamedTuple):
    """A point in running code; `co_positions` turns it into the exact sub-expression when somebody asks."""

    code: CodeType
    lasti: int


def callers_place() -> Place:
    """Where the innermost frame outside this package is right now."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Place(frame.f_code, frame.f_lasti)


class Call:
    """One op that ran. A tensor keeps the call that made it, the call keeps its inputs, and so the forward graph stays.

    Attributes:
        op: the op's name as in ``torch.<op>``; for a tensor made from numbers, the factory's name.
        inputs: the tensors it was given, Python numbers among them as 0-d tensors.
        options: its other arguments by name.
        node: the backward node it recorded, or None.
        order: rises with time over all calls.
        depth: how many untracked calls hang on this one.
        outputs: weak references to the results if there are several.
        at: the user's place in the code.
    """

    __slots__ = ("at", "depth", "inputs", "node", "op", "options", "order", "outputs")

    def __init__(self, op: str, inputs: tuple[Tensor, ...], options: dict[str, Any], node: Node | None) -> None:
        self.op, self.inputs, self.options, self.node = op, inputs, options, node
        self.order = next(_order)
        self.at = callers_place()
        self.depth = 0
        self.outputs: tuple[weakref.ref[Tensor], ...] = ()


class Event(NamedTuple):
    """Something done to a tensor that is not an op: retain_grad(), requires_grad = True, backward()."""

    kind: str
    order: int
    at: Place


def note(tensor: Tensor, kind: str) -> None:
    """Remember that the user did `kind` to `tensor` here."""
    tensor._events = (*tensor._events, Event(kind, next(_order), callers_place()))


def record(
    op: str, inputs: tuple[Tensor, ...], options: dict[str, Any], results: tuple[Tensor, ...], node: Node | None
) -> None:
    """Let `results` remember the call that made them."""
    call = Call(op, inputs, options, node)
    if node is None:
        call.depth = 1 + max((t._made_by.depth for t in inputs if t._made_by is not None), default=0)
        if call.depth > UNTRACKED_DEPTH:
            call.inputs, call.depth = (), 0
    if len(results) > 1:
        call.outputs = tuple(weakref.ref(r) for r in results)
    for result in results:
        result._made_by = call
