"""Boolean and bitwise logic, and tests of numbers such as isnan. They have no gradient."""
# fmt: off
# tables of ops: their columns stay aligned

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import from_numpy_dtype
from ...base.public import public
from ...op.primitive import primitive
from ...op.row import public_row
from ...tensor.refusals import refuse
from ...tensor.tensor import Tensor

logical_and = public_row("logical_and", "", "True where both are nonzero.",
    lambda self, other: np.logical_and(self, other), inplace=True)
logical_or = public_row("logical_or", "", "True where at least one is nonzero.",
    lambda self, other: np.logical_or(self, other), inplace=True)
logical_xor = public_row("logical_xor", "", "True where exactly one is nonzero.",
    lambda self, other: np.logical_xor(self, other), inplace=True)
logical_not = public_row("logical_not", "", "True where self is 0.",
    lambda self: np.logical_not(self), inplace=True)


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


isnan = public_row("isnan", "", "True where self is nan.",
    lambda self: np.isnan(self))
isinf = public_row("isinf", "", "True where self is inf or -inf.",
    lambda self: np.isinf(self))
isfinite = public_row("isfinite", "", "True where self is neither infinite nor nan.",
    lambda self: np.isfinite(self))
isposinf = public_row("isposinf", "", "True where self is inf.",
    lambda self: np.isposinf(self))
isneginf = public_row("isneginf", "", "True where self is -inf.",
    lambda self: np.isneginf(self))
signbit = public_row("signbit", "", "True where the sign bit is set, also for -0.",
    lambda self: np.signbit(self))
isreal = public_row("isreal", "", "True where the imaginary part is 0.",
    lambda self: np.isreal(self))


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
