"""What made data, and whether whole numbers were lost on the way: those of uint8 wrap around, and a floor may be 0 everywhere.

Whether they were is kept as a tensor, so that a device need not wait. It is read when somebody asks.
"""

from __future__ import annotations

from typing import Any

import torch

from ..reading.call_place import users_line
from ..reading.op_log import Event, Log
from ..reading.op_pages import name_of_function
from ..reading.values import unseen
from .row_order import order_made

T = torch.Tensor
SMALL = (torch.uint8, torch.int8)
WRAPPING = ("add", "sub", "mul", "subtract", "multiply", "neg", "negative")
HALF = 0.5  # of the numbers
FLOORS = ("floordiv", "floor_divide", "div", "divide")
QUOTIENTS, LARGEST, ONCE = ("div", "truediv", "divide", "true_divide"), 255, 1.01 / 255  # of a pixel
IMAGES, CHANNELS, VIEWS = 4, (2, 3, 4), ("view", "reshape")  # dimensions of a batch; with 1 channel nothing is exchanged
CASTS = ("long", "int", "to", "type", "short")


def data_made(log: Log, func: Any, args: Any, data: list[Any], out: Any) -> None:
    """Note what made a tensor of data, and where the first loss of whole numbers behind it was."""
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
