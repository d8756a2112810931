"""In which order the rows of data are: which random permutation an index has last put them in."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from ..reading.call_place import Line, users_line
from ..reading.op_log import Event, Log
from ..reading.op_pages import name_of_function
from ..reading.values import unseen

T = torch.Tensor
INDEXING = {"__getitem__": 1, "index_select": 2}  # the argument that is the index


class Order(NamedTuple):
    """The order of rows."""

    drawn: int  # the number of the event that drew the permutation; 0 for rows as they were made
    since: int  # the number of the event that made the rows, or of the first that met them
    line: Line | None  # where they were put in that order


@unseen
def order_made(log: Log, func: Any, args: Any, data: list[T]) -> Order | None:
    """That of what a function made of data; None if it is not known, or if rows of several orders are mixed."""
    own, at = order_of(log, data[0]), INDEXING.get(name_of_function(func))
    index = args[at] if at is not None and len(args) > at else 0
    index = index[0] if isinstance(index, tuple) and index else index
    if isinstance(index, T):
        by = order_of(log, index) if index.dtype is torch.int64 else None
        return Order(by.drawn, own.since, users_line()) if own is not None and by is not None and by.drawn else None
    if not isinstance(index, int | slice) and index is not ...:
        return None
    return own if all(order_of(log, other) == own for other in data[1:]) else None


def order_of(log: Log, tensor: T) -> Order | None:
    """That of a tensor of data, if it is as it was made."""
    known, events = log.data.get(tensor), log.events_of(tensor)
    if any(e.kind == "written" and (known is None or e.number > known[2]) for e in events):
        return None
    if known is not None:
        order: Order | None = known[5]
        return order
    made = next((e for e in events if e.kind in ("made", "met")), None)
    if made is None:
        made = Event("met", "", users_line(), log.now, None)
        log.note(tensor, made)
    return Order(made.number if made.name == "randperm" else 0, made.number, None)
