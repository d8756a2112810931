"""What made data, in which order its rows are, and whether whole numbers were lost on the way.

Rows: which random permutation an index has last put them in. While a program runs only the root of each tensor of data is kept:
what it was made of. Who asks looks at its events. No root refers to its tensor, which `swap_tensors` would refuse then.
Numbers of uint8 wrap around, and a floor may be 0 everywhere. Whether they were lost is kept as a tensor, so that a device need
not wait. It is read when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from ..reading.call_place import Line, users_line
from ..reading.op_log import Event, Log
from ..reading.op_pages import name_of_function
from ..reading.values import unseen

T = torch.Tensor
INDEXING = {"__getitem__": 1, "index_select": 2}  # the argument that is the index

BY_ROW = ("add", "sub", "mul", "truediv", "div", "radd", "rsub", "rmul")  # row by row, whatever the two were made of


@dataclass(eq=False, slots=True)
class Root:
    """A tensor of data that nothing known has made."""

    made: int  # the number of the event that made it, or of the last one before it was met
    drawn: int  # the same, if it is a random permutation; else 0


class Order(NamedTuple):
    """The order of rows."""

    drawn: int  # the number of the event that drew the permutation; 0 for rows as they were made
    root: Root  # what they were made of
    line: Line | None = None  # where they were put in that order
    is_picked: bool = False  # numbers of a table, one for each row of something else


def order_made(log: Log, func: Any, args: Any, data: list[T], known: Any, out: T) -> Order | None:
    """That of what is made of data; None if unknown, or if rows of several orders are mixed. `known`: the first one's maker."""
    own: Order | None = order_of(log, data[0]) if known is None else known[5]
    at = INDEXING.get(getattr(func, "__name__", ""))
    if own is None or (at is None and len(data) == 1):
        return own
    index = args[at] if at is not None and len(args) > at else 0
    index = index[0] if isinstance(index, tuple) and index else index
    if isinstance(index, T):
        order = order_of(log, index) if index.dtype is torch.int64 else None
        drawn = 0 if order is None else order.root.drawn
        is_picked = index.ndim == data[0].ndim == out.ndim == 1 and not drawn and _is_random(log, index)
        return Order(drawn, own.root, users_line()) if drawn else Order(0, Root(log.now, 0), None, is_picked)
    if not isinstance(index, int | slice) and index is not ...:
        return None
    if out.ndim > 1 and out.shape[0] == out.shape[-1] and getattr(func, "__name__", "").strip("_") in BY_ROW:
        _across(log, func, data, out)
    rows = [other for other in data[1:] if other.shape[:1] == out.shape[:1]]  # a mean of columns does not mix any
    alike = 1 if getattr(func, "__name__", "").strip("_") in BY_ROW else 2  # by their permutation; also by their root
    return own if all((order := order_of(log, other)) is not None and order[:alike] == own[:alike] for other in rows) else None


def _is_random(log: Log, index: T) -> bool:
    """Are these whole numbers that were drawn for the rows, as the times of a diffusion?"""
    return [e.name for e in log.events_of(index) if e.kind in ("made", "written")] == ["randint"]


def _across(log: Log, func: Any, data: list[T], out: T) -> None:
    """Note numbers that were picked for each row, and that go along the columns: there are as many."""
    shapes = [tuple(t.shape) for t in data]
    if len(out) > 1 and {*shapes} == {(*out.shape,), (len(out),)}:
        order = order_of(log, data[shapes.index((len(out),))])
        if order is not None and order.is_picked:
            log.layers.append(Event("row_across", name_of_function(func), users_line(), log.now, [(len(out),), (*out.shape,)]))


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


SMALL = (torch.uint8, torch.int8)
WRAPPING = ("add", "sub", "mul", "subtract", "multiply", "neg", "negative")
HALF = 0.5  # of the numbers
FLOORS = ("floordiv", "floor_divide", "div", "divide")
QUOTIENTS, LARGEST, ONCE = ("div", "truediv", "divide", "true_divide"), 255, 1.01 / 255  # of a pixel
IMAGES, CHANNELS, VIEWS = 4, (2, 3, 4), ("view", "reshape")  # dimensions of a batch; with 1 channel nothing is exchanged
CASTS = ("long", "int", "to", "type", "short")


def data_made(log: Log, func: Any, args: Any, data: list[Any], out: Any) -> None:
    """Note what made a tensor of data, and where the first loss of whole numbers behind it was."""
    if torch._C._get_tracing_state() is not None or (type(out) is not T and any(type(n) is not int for n in out.shape)):
        return  # a trace would contain each question for a size, and a symbolic size would get a guard
    known = [log.data.get(a) for a in data]
    lost = next((k[4] for k in known if k is not None and k[4] is not None), None)
    is_open = lost is None or lost.kind == "scaled_twice"  # that may be none
    if is_open and not out.dtype.is_floating_point and out.dtype is not torch.bool:
        lost = _lost(log, func, args, out) or lost
    elif is_open and len(args) > 1 and type(args[1]) in (int, float) and args[1] == LARGEST:
        lost = _scaled(log, func, out) or lost
    elif lost is None and out.ndim == data[0].ndim == IMAGES and out.shape != data[0].shape:
        lost = _viewed(log, func, data[0].shape, out.shape)
    log.data[out] = func, users_line(), log.now, data[0].shape, lost, order_made(log, func, args, data, known[0], out)


@unseen
def _scaled(log: Log, func: Any, out: Any) -> Event | None:
    """A division of pixels by 255 that had been done before."""
    is_done = name_of_function(func).strip("_") in QUOTIENTS and out.numel() > 1
    return Event("scaled_twice", "div", users_line(), log.now, out.any() & (out.abs().max() <= ONCE)) if is_done else None


def _viewed(log: Log, func: Any, before: Any, after: Any) -> Event | None:
    """A view that exchanges the channels of images with their places: it moves no element."""
    is_exchange = after == (before[0], before[3], *before[1:3]) or after == (before[0], *before[2:], before[1])
    is_image = is_exchange and min(before[1], before[3]) in CHANNELS and name_of_function(func) in VIEWS
    return Event("channels_viewed", name_of_function(func), users_line(), log.now, True) if is_image else None


@unseen
def _lost(log: Log, func: Any, args: Any, out: Any) -> Event | None:
    name = name_of_function(func).strip("_").removeprefix("r")
    if name in WRAPPING and out.dtype in SMALL:
        wide = func(*(a.to(torch.int32) if isinstance(a, T) and a.dtype in SMALL else a for a in args))
        return Event("wrapped", name_of_function(func), users_line(), log.now, (wide != out).any())
    if name in FLOORS and isinstance(args[0], T) and not args[0].dtype.is_floating_point:
        gone = ((out == 0) & (args[0] != 0)).float().mean() > HALF
        return Event("floored", name_of_function(func), users_line(), log.now, gone)
    if name in CASTS and isinstance(args[0], T) and args[0].dtype.is_floating_point and out.ndim:
        return Event("cast_to_zero", name_of_function(func), users_line(), log.now, args[0].any() & ~out.any())
    return None
