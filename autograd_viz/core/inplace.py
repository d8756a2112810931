"""Changing a tensor in place: what is allowed, the version counter, and where the tensor's history goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .grad_mode import is_grad_enabled
from .ops import arithmetic, shape
from .tensor import Tensor


def check_inplace(tensor: Tensor, requires_grad: bool) -> None:
    """Refuse what autograd could not undo.

    Raises:
        RuntimeError: a leaf that requires grad (or a view of one) would be changed while recording.
        NotImplementedError: a view inside the graph.
    """
    if not is_grad_enabled():
        return
    base = tensor._base
    if tensor._requires_grad and tensor.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if base is not None and base._requires_grad and base.is_leaf:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if base is not None and (requires_grad or tensor._requires_grad or base._requires_grad):
        raise NotImplementedError("in-place ops on a view that takes part in autograd are not in autograd_viz yet")


def run_inplace(self: Tensor, op: Callable[..., Any], *operands: Any, **options: Any) -> Tensor:
    """Write `op(self, *operands)` into the memory of `self`; its history becomes the op's.

    The op sees a twin of `self` with a copy of the old values, so whatever it saves stays as it was.
    """
    check_inplace(self, any(isinstance(o, Tensor) and o._requires_grad for o in operands))
    old = self._without_history()
    if is_grad_enabled():
        old._data, old._counter = self._data.copy(), [self._version]
    old._requires_grad, old._grad_fn, old._output_nr = self._requires_grad, self._grad_fn, self._output_nr
    old._made_by = self._made_by
    result = op(old, *operands, **options)
    if not self._data.flags.writeable:
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    if result._data.shape != self._data.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(result.shape)}")
    if not np.can_cast(result._data.dtype, self._data.dtype, "same_kind"):
        raise RuntimeError(f"result type {result.dtype.legacy} can't be cast to the desired output type {self.dtype.legacy}")
    self._data[...] = result._data
    self._bump_version()
    if is_grad_enabled():
        retained = self._retains_grad and self._grad_fn is not result._grad_fn
        self._requires_grad, self._grad_fn = result._requires_grad, result._grad_fn
        self._output_nr, self._made_by = result._output_nr, result._made_by
        if self._made_by is not None:  # what was multiplied by itself is the old tensor, not the new one
            self._made_by.inputs = tuple(old if t is self else t for t in self._made_by.inputs)
        if retained:
            _move_retained(self, old)
    return self


def in_place(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The method that writes the result of `op` into its first operand."""

    def method(self: Tensor, *operands: Any, **options: Any) -> Tensor:
        return run_inplace(self, op, *operands, **options)

    method.__name__, method.__doc__ = name, f"In place: {op.__doc__}"
    return method


def _move_retained(self: Tensor, old: Tensor) -> None:
    """retain_grad() follows the tensor to its new node."""
    if old._grad_fn is not None and old._grad_fn._retains:
        old._grad_fn._retains.pop(old._output_nr, None)
    self._retains_grad = False
    self.retain_grad()


# fmt: off
def add_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """self += alpha * other."""
    return run_inplace(self, arithmetic.add, other, alpha=alpha)
def sub_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """self -= alpha * other."""
    return run_inplace(self, arithmetic.sub, other, alpha=alpha)
def mul_(self: Tensor, other: Any) -> Tensor:
    """self *= other."""
    return run_inplace(self, arithmetic.mul, other)
def div_(self: Tensor, other: Any) -> Tensor:
    """self /= other."""
    return run_inplace(self, arithmetic.div, other)
def copy_(self: Tensor, src: Tensor) -> Tensor:
    """self[...] = src."""
    return run_inplace(self, shape.copy_into, src)
def zero_(self: Tensor) -> Tensor:
    """All elements 0."""
    return run_inplace(self, arithmetic.zero)
def fill_(self: Tensor, value: Any) -> Tensor:
    """All elements `value`."""
    return run_inplace(self, arithmetic.fill, value=value)
# fmt: on
