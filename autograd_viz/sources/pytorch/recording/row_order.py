"""In which order the rows of data are: which random permutation an index has last put them in.

While a program runs only the root of each tensor of data is kept: what it was made of. Who asks looks at its events. No root
refers to its tensor, which `swap_tensors` would refuse then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from ..reading.call_place import Line, users_line
from ..reading.op_log import Log

T = torch.Tensor
INDEXING = {"__getitem__": 1, "index_select": 2}  # the argument that is the index

BY_ROW = ("add", "sub", "mul", "truediv", "div", "radd", "rsub", "rmul")  # row by row, whatever the two were made of


class Root:
    """A tensor of data that nothing known has made.

    Attributes:
        made: the number of the event that made it, or of the last one before it was met.
        drawn: the same, if it is a random permutation; else 0.
    """

    __slots__ = ("drawn", "made")

    def __init__(self, made: int, drawn: int) -> None:
        self.made, self.drawn = made, drawn


class Order(NamedTuple):
    """The order of rows."""

    drawn: int  # the number of the event that drew the permutation; 0 for rows as they were made
    root: Root  # what they were made of
    line: Line | None = None  # where they were put in that order


def order_made(log: Log, func: Any, args: Any, data: list[T], known: Any, out: T) -> Order | None:
    """That of what a function made of data; None if it is not known, or if rows of several orders are mixed.

    `known`: what made the first tensor of the data, or None.
    """
    own: Order | None = order_of(log, data[0]) if known is None else known[5]
    at = INDEXING.get(getattr(func, "__name__", ""))
    if own is None or (at is None and len(data) == 1):
        return own
    index = args[at] if at is not None and len(args) > at else 0
    index = index[0] if isinstance(index, tuple) and index else index
    if isinstance(index, T):
        order = order_of(log, index) if index.dtype is torch.int64 else None
        drawn = 0 if order is None else order.root.drawn
        return Order(drawn, own.root, users_line()) if drawn else Order(0, Root(log.now, 0))
    if not isinstance(index, int | slice) and index is not ...:
        return None
    rows = [other for other in data[1:] if other.shape[:1] == out.shape[:1]]  # a mean of columns does not mix any
    alike = 1 if getattr(func, "__name__", "").strip("_") in BY_ROW else 2  # by their permutation; also by their root
    return own if all((order := order_of(log, other)) is not None and order[:alike] == own[:alike] for other in rows) else None


def order_of(log: Log, tensor: T) -> Order | None:
    """That of a tensor of data."""
    known = log.data.get(tensor)
    order: Order | None = log.met.get(tensor) if known is None else known[5]
    if known is None and order is None:
        events = [e for e in log.events_of(tensor) if e.kind in ("made", "written")]
        made = next((e.number for e in events if e.kind == "made"), log.now)
        is_permutation = [(e.kind, e.name) for e in events] == [("made", "randperm")]
        order = log.met[tensor] = Order(0, Root(made, made if is_permutation else 0))
    return order


def is_written(log: Log, order: Order, tensor: T) -> bool:
    """Were the rows of a tensor, or what they were made of, written since?"""
    root = next((t for t, known in log.met.items() if known.root is order.root), None)
    if root is not None and any(e.kind == "written" for e in log.events_of(root)):
        return True
    known = log.data.get(tensor) if root is not None else None
    began = known[2] if known is not None else 0
    return any(e.number > began for e in log.events_of(tensor, "written"))  # of a view: its base, too
