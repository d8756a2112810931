"""The memory of a tensor as bytes: `x.untyped_storage()`."""

from __future__ import annotations

import numpy as np

from ..base.device import device
from ..base.public import public
from .as_array import Array
from .tensor import Tensor


class UntypedStorage:
    """The bytes that a tensor shares with its views."""

    def __init__(self, array: Array) -> None:
        self._owner, base = array, array.base
        while base is not None:  # of a strided view, NumPy's stand-in
            self._owner, base = (base if isinstance(base, np.ndarray) else self._owner), getattr(base, "base", None)
        self.device = device("cpu")

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
