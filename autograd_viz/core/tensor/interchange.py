"""Tensors and other libraries: NumPy functions on tensors, and DLPack, by which PyTorch and others share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import from_numpy_dtype
from .tensor import Tensor


def array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """NumPy has computed something from a tensor (``np.exp(t)``): a tensor again, outside the graph."""
    return Tensor(np.asarray(array))


def dlpack(self: Tensor, **options: Any) -> Any:
    """The memory as a DLPack capsule.

    Raises:
        BufferError: the tensor requires grad; the other library could not know.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._data.__dlpack__(**options)


def dlpack_device(self: Tensor) -> Any:
    """(1, 0): the CPU."""
    return self._data.__dlpack_device__()


def from_dlpack(other: Any) -> Tensor:
    """A tensor that shares the memory of a PyTorch tensor, a NumPy array, or anything else that speaks DLPack.

    Raises:
        TypeError: it does not speak it, or holds a type that tensors cannot hold.
    """
    if not hasattr(other, "__dlpack__"):
        raise TypeError(f"from_dlpack expects an object with __dlpack__, such as a PyTorch tensor; got {type(other).__name__}")
    array = np.from_dlpack(other)
    from_numpy_dtype(array.dtype)
    return Tensor(array)


def bind() -> None:
    """Put the protocols on Tensor."""
    for name, method in {"__array_wrap__": array_wrap, "__dlpack__": dlpack, "__dlpack_device__": dlpack_device}.items():
        setattr(Tensor, name, method)
