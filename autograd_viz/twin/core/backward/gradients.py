"""Gradients in the form of a pass, and in the form of a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.grad_mode import recording, set_recording
from ..base.quiet import quiet
from ..tensor.tensor import Tensor
from .node import SMALL

_LARGE = (None,)


def as_tensor(grad: Any) -> Tensor | None:
    """An array as a tensor."""
    return grad if grad is None or isinstance(grad, Tensor) else Tensor(grad)


def small_arrays(grads: Sequence[Any]) -> Sequence[Any]:
    """The small arrays among the gradients, for drawings; None for large ones, so that they can be freed."""
    if len(grads) == 1:  # the usual case
        return grads if (g := grads[0]) is None or g.size <= SMALL else _LARGE
    return [g if g is not None and g.size <= SMALL else None for g in grads]


def small(grads: Sequence[Any]) -> Sequence[Any]:
    """`small_arrays` for arrays or tensors."""
    return [None if g is None or (a := g._data if isinstance(g, Tensor) else g).size > SMALL else a for g in grads]


def summed(there: Any, grad: Any, recorded: bool) -> Any:
    """The sum of two gradients. It is recorded if the pass is."""
    if not recorded:
        return quiet.run(np.add, there, grad)
    before = recording()
    set_recording(True)
    try:
        return there + grad
    finally:
        set_recording(before)
