"""The same values in another element type: x.double(), x.to(...), x.type_as(y)."""
# fmt: off

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.device import check_device
from ...op import primitive, public, renamed
from ...tensor.creation import of_legacy_type
from ...tensor.tensor import Tensor


@primitive("ToCopyBackward0")
def to_copy(self, *, dtype):
    """The values in another type, or the same one, in new memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        return self.astype(dtype.numpy)
to_copy.defvjp(self = lambda grad: grad)


# fmt: on
@public("Tensor.to")
def to(
    self: Tensor, *wanted: Any, dtype: Any = None, device: Any = None, copy: bool = False, memory_format: Any = None, **how: Any
) -> Any:
    """The values in a type, or in that of a tensor; self if it is the same. Raises AssertionError: a device but the CPU."""
    flags = [w for w in wanted if isinstance(w, bool)]  # non_blocking, copy
    for w in wanted:
        if isinstance(w, dtypes.dtype):
            dtype = w
        elif isinstance(w, Tensor):
            dtype = w.dtype
        elif w is not None and not isinstance(w, bool):
            device = w
    check_device(device)
    copy = copy or (len(flags) > 1 and flags[1])
    if (dtype is None or dtype is self.dtype) and not copy and is_laid_out(self, str(memory_format)):
        return self
    return to_copy(self, dtype=dtype or self.dtype)


def is_laid_out(self: Tensor, memory_format: str) -> bool:
    """Do the elements already lie in memory in this order?"""
    if "channels_last" in memory_format:
        return bool(np.moveaxis(self._data, 1, -1).flags.c_contiguous)
    return "contiguous" not in memory_format or bool(self._data.flags.c_contiguous)


@public("Tensor.cpu")
def cpu(self: Tensor, memory_format: Any = None) -> Any:
    """The tensor itself: the CPU is the only device."""
    return self


@public("Tensor.cuda")
def cuda(self: Tensor, device: Any = None, **how: Any) -> Any:
    """Always raises: there is no GPU. Raises AssertionError: always."""
    check_device("cuda")


@public("Tensor.type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the type. With a type or its name, the values in that type."""
    if dtype is None:
        return f"torch.{self.dtype.legacy}Tensor"
    return to(self, dtype if isinstance(dtype, dtypes.dtype) else of_legacy_type(dtype))


@public("Tensor.type_as")
def type_as(self: Tensor, other: Tensor) -> Any:
    """The values in the type of `other`."""
    return to(self, other.dtype)


def _cast(name: str, wanted: dtypes.dtype) -> None:
    """Publish the method x.<name>()."""

    def method(self: Tensor, memory_format: Any = None) -> Any:
        return to(self, wanted, memory_format=memory_format)

    public(f"Tensor.{name}")(renamed(method, name, f"The values as {wanted.name}."))


for _name, _type in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "long": dtypes.int64, "int": dtypes.int32,
    "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_, "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    _cast(_name, _type)


@public("resolve_conj", "resolve_neg")
def resolved(input: Tensor) -> Any:
    """The tensor itself: conjugates and negatives are never lazy here."""
    return input
