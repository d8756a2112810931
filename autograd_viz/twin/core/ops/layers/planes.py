"""Elements of a plane by their flat index: max pooling saves such indices, and its gradient uses them.

A plane is the last `n` dimensions of a tensor, in row-major order.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.symbol import call
from ...op import inlined, primitive, row
from .windows import Ints, volume


@primitive("GatherBackward0", written=lambda self, indices, n: call("gather", self, indices))
def gather_in_planes(self, *, indices, n):
    """The elements at these flat indices, in each plane."""
    flat = self.reshape(*self.shape[:-n], -1)
    return np.take_along_axis(flat, indices.reshape(*flat.shape[:-1], -1), -1).reshape(indices.shape)
gather_in_planes.defvjp(self = lambda grad, self_sym_sizes, indices, n:
    scatter_in_planes(grad, indices=indices, size=plane_size(self_sym_sizes, n)))


scatter_in_planes = row("scatter_in_planes", "ScatterAddBackward0",
    "Planes of zeros of shape `size`, with each element added at its index.",
    lambda grad_output, *, indices, size: scattered(grad_output, indices, size),
    written=lambda grad_output, indices, size: call("scatter", grad_output, indices),
    grad_output = lambda grad, indices, size: gather_in_planes(grad, indices=indices, n=len(size)))


# fmt: on
@inlined
def plane_size(sizes: Ints, n: int) -> Ints:
    """The sizes of the last `n` dimensions."""
    return tuple(sizes[-n:])


def scattered(values: Any, indices: Any, size: Ints) -> Any:
    """Each value, added at its index in planes of zeros."""
    lead, elements = values.shape[: values.ndim - len(size)], volume(size)
    out = np.zeros(volume(lead) * elements, values.dtype)
    if values.size:
        starts = np.arange(volume(lead)).reshape(-1, 1) * elements
        np.add.at(out, (indices.reshape(volume(lead), -1) + starts).ravel(), values.ravel())
    return out.reshape(*lead, *size)


def put(values: Any, indices: Any, size: Ints) -> Any:
    """Each value, written at its index in planes of zeros. Of several at one index, the last stays."""
    lead = values.shape[: values.ndim - len(size)]
    out = np.zeros((*lead, volume(size)), values.dtype)
    np.put_along_axis(out, indices.reshape(*lead, -1), values.reshape(*lead, -1), -1)
    return out.reshape(*lead, *size)
