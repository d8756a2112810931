"""Boolean and bitwise logic, and tests of numbers such as isnan. They have no gradient."""
# fmt: off
# tables of ops: their columns stay aligned

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import from_numpy_dtype
from ...base.public import public
from ...op.primitive import primitive
from ...tensor.refusals import refuse
from ...tensor.tensor import Tensor


@public("logical_and", inplace=True)
@primitive()
def logical_and(self, other):
    """True where both are nonzero."""
    return np.logical_and(self, other)


@public("logical_or", inplace=True)
@primitive()
def logical_or(self, other):
    """True where at least one is nonzero."""
    return np.logical_or(self, other)


@public("logical_xor", inplace=True)
@primitive()
def logical_xor(self, other):
    """True where exactly one is nonzero."""
    return np.logical_xor(self, other)


@public("logical_not", inplace=True)
@primitive()
def logical_not(self):
    """True where self is 0."""
    return np.logical_not(self)


@public("bitwise_and", inplace=True)
@public("Tensor.__and__", "Tensor.__rand__")
@primitive(promotes=True)
def bitwise_and(self, other):
    """The bits that both have."""
    refuse(self, "fc", "bitwise_and_cpu")
    return self & other


@public("bitwise_or", inplace=True)
@public("Tensor.__or__", "Tensor.__ror__")
@primitive(promotes=True)
def bitwise_or(self, other):
    """The bits that at least one has."""
    refuse(self, "fc", "bitwise_or_cpu")
    return self | other


@public("bitwise_xor", inplace=True)
@public("Tensor.__xor__", "Tensor.__rxor__")
@primitive(promotes=True)
def bitwise_xor(self, other):
    """The bits that exactly one has."""
    refuse(self, "fc", "bitwise_xor_cpu")
    return self ^ other


@public("bitwise_left_shift", inplace=True)
@public("Tensor.__lshift__")
@primitive(promotes=True)
def bitwise_left_shift(self, other):
    """self * 2**other, in bits."""
    refuse(self, "bfc", "lshift_cpu")
    return self << other


@public("bitwise_right_shift", inplace=True)
@public("Tensor.__rshift__")
@primitive(promotes=True)
def bitwise_right_shift(self, other):
    """self // 2**other, in bits."""
    refuse(self, "bfc", "rshift_cpu")
    return self >> other


@public("Tensor.__rlshift__")
def rlshift(self: Tensor, other: Any) -> Any:
    """other << self."""
    return bitwise_left_shift(other, self)


@public("Tensor.__rrshift__")
def rrshift(self: Tensor, other: Any) -> Any:
    """other >> self."""
    return bitwise_right_shift(other, self)


@public("bitwise_not", inplace=True)
@primitive()
def bitwise_not(self):
    """Every bit inverted."""
    refuse(self, "fc", "bitwise_not_cpu")
    return ~self


@public("Tensor.__invert__")
def invert(self: Tensor) -> Any:
    """~self; for a mask, its negation.

    Raises:
        TypeError: neither integers nor bool.
    """
    if self._data.dtype.kind in "fc":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


@public
@primitive()
def isnan(self):
    """True where self is nan."""
    return np.isnan(self)


@public
@primitive()
def isinf(self):
    """True where self is inf or -inf."""
    return np.isinf(self)


@public
@primitive()
def isfinite(self):
    """True where self is neither infinite nor nan."""
    return np.isfinite(self)


@public
@primitive()
def isposinf(self):
    """True where self is inf."""
    return np.isposinf(self)


@public
@primitive()
def isneginf(self):
    """True where self is -inf."""
    return np.isneginf(self)


@public
@primitive()
def signbit(self):
    """True where the sign bit is set, also for -0."""
    return np.signbit(self)


@public
@primitive()
def isreal(self):
    """True where the imaginary part is 0."""
    return np.isreal(self)


@public
@primitive()
def isclose(self, other, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True where |self - other| <= atol + rtol * |other|.

    Raises:
        RuntimeError: the types differ, or a tolerance is negative.
    """
    if self.dtype != other.dtype:
        raise RuntimeError(f"{from_numpy_dtype(self.dtype).legacy} did not match {from_numpy_dtype(other.dtype).legacy}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    return np.isclose(self, other, rtol, atol, equal_nan)


@public
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """True if all elements are close."""
    return bool(isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)._data.all())


@public
def equal(input: Tensor, other: Tensor) -> bool:
    """True if the shapes and all elements are equal."""
    return np.array_equal(input._data, other._data)


@public("torch.isin")
@primitive()
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """True where an element is among the test elements."""
    return np.isin(elements, test_elements, assume_unique=assume_unique, invert=invert)
