"""The array side of a tensor: shape, type, memory, and its values as Python numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import dtype, from_numpy_dtype
from ..base.events import became_number
from ..base.grad_mode import recording
from ..base.kinds import View

Array = np.ndarray[Any, Any]

SCALAR_WARNING = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
_said_once: set[str] = set()  # warnings that PyTorch gives once per process


class Size(tuple[int, ...]):
    """The shape of a tensor."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if type(index) is slice else part

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)


class AsArray:
    """The half of Tensor that ignores gradients. It only refuses to leave the graph silently."""

    __slots__ = ()

    if TYPE_CHECKING:  # tensor.py
        _data: Array
        _requires_grad: bool
        _view: View | None

        def __getattr__(self, name: str) -> Any: ...

    @property
    def shape(self) -> Size:
        """The length of each dimension."""
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one dimension. Raises IndexError: there is no such dimension."""
        if dim is None:
            return self.shape
        if not -self._data.ndim <= dim < self._data.ndim:
            if self._data.ndim == 0:
                raise IndexError("Dimension specified as 0 but tensor has no dimensions")
            bounds = f"[{-self._data.ndim}, {self._data.ndim - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {bounds}, but got {dim})")
        return self._data.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        """The distance in memory between neighbours, in elements: of each dimension, or of one."""
        steps = tuple(n // self._data.itemsize for n in self._data.strides)
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """The position of the first element in the base's memory, in elements."""
        base = self._view.base if self._view is not None else self
        first = 0 if base._extra is None else base._extra.first
        return first + int((self._data.ctypes.data - base._data.ctypes.data) // self._data.itemsize)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self._data.ctypes.data)

    def is_contiguous(self) -> bool:
        """True if the elements lie in row-major order without gaps."""
        return bool(self._data.flags.c_contiguous)

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements."""
        return self._data.size

    nelement = numel

    def element_size(self) -> int:
        """Bytes per element."""
        return self._data.itemsize

    @property
    def dtype(self) -> dtype:
        """The element type."""
        return from_numpy_dtype(self._data.dtype)

    def is_floating_point(self) -> bool:
        """True for float16, float32 and float64."""
        return bool(self._data.dtype.kind == "f")

    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return bool(self._data.dtype.kind == "c")

    def numpy(self, *, force: bool = False) -> Array:
        """The NumPy array, which shares the memory. Raises RuntimeError: the tensor requires grad, without `force`."""
        if self._requires_grad and recording() and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def tolist(self) -> Any:
        """The values as nested Python lists, or a number."""
        if self._requires_grad:
            became_number(self, "tolist")
        return self._data.tolist()

    def item(self) -> Any:
        """The one value as a Python number. Raises RuntimeError: there is not exactly one element."""
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        if self._requires_grad:
            became_number(self, "item")
        return self._data.item()

    def __float__(self) -> float:
        if self._requires_grad and SCALAR_WARNING not in _said_once:
            _said_once.add(SCALAR_WARNING)
            warnings.warn(SCALAR_WARNING, UserWarning, stacklevel=2)
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iub" or self._data.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            what = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._data.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Any]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        return bool((self._data == (element._data if isinstance(element, AsArray) else element)).any())
