"""Ops that work on one dimension after the other: padding, adaptive means, and interpolation.

Each dimension has a matrix (out, in) of the weights of old elements in new ones. If each new element equals an old one, it
has a list of indices instead. The gradient goes through the transposed matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.readings import inlined
from .windows import Ints


@inlined
def op_named(name: str) -> Any:
    """The op of this name, in the current reading. A rule that serves several ops finds their gradients with it."""
    return globals()[name]


def along_each(x: Any, makings: list[Any]) -> Any:
    """The last dimensions of `x`, transformed one by one."""
    first = x.ndim - len(makings)
    for d, making in enumerate(makings):
        if making.ndim == 1:
            x = np.take(x, making, first + d)
        else:
            x = np.swapaxes(np.swapaxes(x, first + d, -1) @ making.T.astype(x.dtype), first + d, -1)
    return np.ascontiguousarray(x)


def transposed(makings: list[Any], size: Ints) -> list[Any]:
    """The transposed transformations, back to dimensions of `size`."""
    return [(np.eye(n)[making] if making.ndim == 1 else making).T for making, n in zip(makings, size, strict=True)]


def shares(size: Ints, output_size: Ints) -> list[Any]:
    """The matrices of means over adaptive windows."""
    matrices = []
    for length, out in zip(size, output_size, strict=True):
        starts, ends = np.arange(out) * length // out, -(-(np.arange(out) + 1) * length // out)
        places = np.arange(length)
        inside = (places >= starts[:, None]) & (places < ends[:, None])
        matrices.append(inside / np.maximum(ends - starts, 1)[:, None])
    return matrices
