"""Copies and pickles of leaves, NumPy functions on tensors, DLPack, and the memory as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.device import CPU
from ..base.dtypes import from_numpy_dtype
from ..base.public import public
from .as_array import Array
from .tensor import Tensor


def dlpack(self: Tensor, **options: Any) -> Any:
    """The memory as a DLPack capsule, which cannot express that a tensor requires grad."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._data.__dlpack__(**options)


def from_dlpack(other: Any) -> Tensor:
    """A tensor that shares the memory of a PyTorch tensor, a NumPy array, or another object with DLPack.

    Raises TypeError: it lacks DLPack, or holds a type that tensors cannot hold.
    """
    if not hasattr(other, "__dlpack__"):
        raise TypeError(f"from_dlpack expects an object with __dlpack__, such as a PyTorch tensor; got {type(other).__name__}")
    array = np.from_dlpack(other)
    from_numpy_dtype(array.dtype)
    return Tensor(array)


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Tensor.__deepcopy__, for leaves only."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) not in memo:
        twin = memo[id(self)] = _rebuilt(type(self), self._data.copy(), self._requires_grad, self.__dict__)
        if self._grad is not None:
            twin._grad = Tensor(self._grad._data.copy())
    return memo[id(self)]  # type: ignore[no-any-return]


def _rebuilt(kind: type[Tensor], data: Array, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    twin = kind.__new__(kind)
    Tensor.__init__(twin, data)
    twin._requires_grad = requires_grad
    twin.__dict__.update(attributes)
    return twin


class UntypedStorage:
    """The bytes that a tensor shares with its views."""

    def __init__(self, array: Array) -> None:
        self._owner, base = array, array.base
        while base is not None:  # of a strided view, NumPy's stand-in
            self._owner, base = (base if isinstance(base, np.ndarray) else self._owner), getattr(base, "base", None)
        self.device = CPU

    def __len__(self) -> int:
        return self._owner.nbytes

    size = nbytes = __len__

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._owner.ctypes.data

    def tolist(self) -> list[int]:
        """The bytes."""
        return list(self._owner.tobytes("A"))


@public("Tensor.untyped_storage")
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes that this tensor shares with its views."""
    return UntypedStorage(self._data)


for _name, _method in {
    "__array_wrap__": lambda self, array, context=None, return_scalar=False: Tensor(np.asarray(array)),  # np.exp(x)
    "__dlpack__": dlpack,
    "__dlpack_device__": lambda self: self._data.__dlpack_device__(),
    "__deepcopy__": deepcopy,
    "__reduce_ex__": lambda self, _: (_rebuilt, (type(self), self._data, self._requires_grad, dict(self.__dict__))),
}.items():
    setattr(Tensor, _name, _method)
