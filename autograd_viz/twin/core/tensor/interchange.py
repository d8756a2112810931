"""Exchange with other libraries: NumPy functions on tensors, and DLPack, which shares memory with PyTorch and others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import from_numpy_dtype
from .tensor import Tensor


def array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """Make a tensor outside the graph from what NumPy computed of a tensor (``np.exp(t)``)."""
    return Tensor(np.asarray(array))


def dlpack(self: Tensor, **options: Any) -> Any:
    """The memory as a DLPack capsule.

    Raises:
        BufferError: the tensor requires grad, which DLPack cannot express.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._data.__dlpack__(**options)


def dlpack_device(self: Tensor) -> Any:
    """(1, 0): the CPU."""
    return self._data.__dlpack_device__()


def from_dlpack(other: Any) -> Tensor:
    """A tensor that shares the memory of a PyTorch tensor, a NumPy array, or another object with DLPack.

    Raises:
        TypeError: it lacks DLPack, or holds a type that tensors cannot hold.
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
