"""In which order the rows of data are: which random permutation an index has last put them in.

While a program runs only the root of each tensor of data is kept: what it was made of. Who asks looks at its events.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from ..reading.call_place import Line, users_line
from ..reading.op_log import Log
from ..reading.op_pages import name_of_function
from ..reading.values import unseen

T = torch.Tensor
INDEXING = {"__getitem__": 1, "index_select": 2}  # the argument that is the index


class Order(NamedTuple):
    """The order of rows."""

    drawn: int  # the number of the event that drew the permutation; 0 for rows as they were made
    root: weakref.ref[T]  # what they were made of, which nothing known has made
    met: int  # the number of the last event before that was first met
    line: Line | None = None  # where they were put in that order


def order_made(log: Log, func: Any, args: Any, data: list[T], out: T) -> Order | None:
    """That of what a function made of data; None if it is not known, or if rows of several orders are mixed."""
    own = order_of(log, data[0])
    if len(data) > 1 or getattr(func, "__name__", "") in INDEXING:
        return _of_several(log, func, args, data, out, own)
    return own


def _of_several(log: Log, func: Any, args: Any, data: list[T], out: T, own: Order | None) -> Order | None:
    at = INDEXING.get(name_of_function(func))
    index = args[at] if at is not None and len(args) > at else 0
    index = index[0] if isinstance(index, tuple) and index else index
    if isinstance(index, T):
        drawn = _drawn(log, index)
        return Order(drawn, own.root, own.met, users_line()) if own is not None and drawn else None
    if not isinstance(index, int | slice) and index is not ...:
        return None
    rows = [other for other in data[1:] if other.shape[:1] == out.shape[:1]]  # a mean of columns does not mix any
    return own if all(_is_same(order_of(log, other), own) for other in rows) else None


def _is_same(one: Order | None, other: Order | None) -> bool:
    return one is other or (one is not None and other is not None and one[:1] == other[:1] and one.root is other.root)


def order_of(log: Log, tensor: T) -> Order | None:
    """That of a tensor of data."""
    known = log.data.get(tensor)
    if known is None:
        order: Order | None = log.met.get(tensor)
        if order is None:
            order = log.met[tensor] = Order(0, weakref.ref(tensor), log.now)
        return order
    order = known[5]
    return order


@unseen
def _drawn(log: Log, index: T) -> int:
    """The number of the event that drew the permutation of which it is a part; 0 if there is none."""
    order = order_of(log, index) if index.dtype is torch.int64 else None
    root = None if order is None else order.root()
    events = [] if root is None else log.events_of(root)
    is_permutation = [(e.kind, e.name) for e in events if e.kind in ("made", "written")] == [("made", "randperm")]
    return next(e.number for e in events if e.kind == "made") if is_permutation else 0


def since(log: Log, order: Order) -> int | None:
    """The number of the event that made the root, or of the first that met it; None if it was written since."""
    root = order.root()
    events = [] if root is None else log.events_of(root)
    if any(e.kind == "written" for e in events):
        return None
    return next((e.number for e in events if e.kind == "made"), order.met)
