"""Comparisons, boolean and bitwise logic, and tests of numbers such as isnan. They have no gradient."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import from_numpy_dtype
from ...op import public, public_primitive, public_row
from ...tensor import Tensor, of_tensors, refusing

# -- comparisons ----------------------------------------------------------------------------------------------------------

eq = public_row("eq", "", "self == other.", lambda self, other: self == other, promotes=True, inplace=True)
ne = public_row("ne not_equal", "", "self != other.", lambda self, other: self != other, promotes=True, inplace=True)
lt = public_row("lt less Tensor.__lt__", "", "self < other.", lambda self, other: self < other, promotes=True, inplace=True)
le = public_row("le less_equal Tensor.__le__", "", "self <= other.",
    lambda self, other: self <= other, promotes=True, inplace=True)
gt = public_row("gt greater Tensor.__gt__", "", "self > other.", lambda self, other: self > other, promotes=True, inplace=True)
ge = public_row("ge greater_equal Tensor.__ge__", "", "self >= other.",
    lambda self, other: self >= other, promotes=True, inplace=True)


@public("Tensor.__eq__")
def equals(self: Tensor, other: Any) -> Any:
    """Elementwise ==. An object that is neither a number nor a tensor is not equal."""
    return False if other is None or isinstance(other, str) else eq(self, other)


@public("Tensor.__ne__")
def differs(self: Tensor, other: Any) -> Any:
    """Elementwise !=. An object that is neither a number nor a tensor differs."""
    return True if other is None or isinstance(other, str) else ne(self, other)


# -- logic ----------------------------------------------------------------------------------------------------------------

def unpromoted(*operands: Tensor) -> Any:
    """The operands' arrays, each in its own type."""
    return [t._data for t in operands]


logical_and = public_row("logical_and", "", "True where both are nonzero.",
    lambda self, other: np.logical_and(self, other), promotes=unpromoted, inplace=True)
logical_or = public_row("logical_or", "", "True where at least one is nonzero.",
    lambda self, other: np.logical_or(self, other), promotes=unpromoted, inplace=True)
logical_xor = public_row("logical_xor", "", "True where exactly one is nonzero.",
    lambda self, other: np.logical_xor(self, other), promotes=unpromoted, inplace=True)
logical_not = public_row("logical_not", "", "True where self is 0.", lambda self: np.logical_not(self), inplace=True)
bitwise_and = public_row("bitwise_and Tensor.__and__ Tensor.__rand__", "", "The bits that both have.",
    refusing("fc", "bitwise_and_cpu", lambda self, other: self & other), promotes=True, inplace=True)
bitwise_or = public_row("bitwise_or Tensor.__or__ Tensor.__ror__", "", "The bits that at least one has.",
    refusing("fc", "bitwise_or_cpu", lambda self, other: self | other), promotes=True, inplace=True)
bitwise_xor = public_row("bitwise_xor Tensor.__xor__ Tensor.__rxor__", "", "The bits that exactly one has.",
    refusing("fc", "bitwise_xor_cpu", lambda self, other: self ^ other), promotes=True, inplace=True)
bitwise_left_shift = public_row("bitwise_left_shift Tensor.__lshift__", "", "self * 2**other, in bits.",
    refusing("bfc", "lshift_cpu", lambda self, other: self << other), promotes=True, inplace=True)
bitwise_right_shift = public_row("bitwise_right_shift Tensor.__rshift__", "", "self // 2**other, in bits.",
    refusing("bfc", "rshift_cpu", lambda self, other: self >> other), promotes=True, inplace=True)


bitwise_not = public_row("bitwise_not", "", "Every bit inverted.",
    refusing("fc", "bitwise_not_cpu", lambda self: ~self), inplace=True)


@public("Tensor.__invert__")
def invert(self: Tensor) -> Any:
    """~self; for a mask, its negation. Raises TypeError: neither integers nor bool."""
    if self._data.dtype.kind in "fc":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


isnan = public_row("isnan", "", "True where self is nan.", lambda self: np.isnan(self))
isinf = public_row("isinf", "", "True where self is inf or -inf.", lambda self: np.isinf(self))
isfinite = public_row("isfinite", "", "True where self is neither infinite nor nan.", lambda self: np.isfinite(self))
isposinf = public_row("isposinf", "", "True where self is inf.", lambda self: np.isposinf(self))
isneginf = public_row("isneginf", "", "True where self is -inf.", lambda self: np.isneginf(self))
signbit = public_row("signbit", "", "True where the sign bit is set, also for -0.", lambda self: np.signbit(self))
isreal = public_row("isreal", "", "True where the imaginary part is 0.", lambda self: np.isreal(self))


@public_primitive("isclose", "", promotes=unpromoted)
def isclose(self, other, *, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True where |self - other| <= atol + rtol * |other|. Raises RuntimeError: the types differ, or a tolerance is negative."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"{from_numpy_dtype(self.dtype).legacy} did not match {from_numpy_dtype(other.dtype).legacy}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    return np.isclose(self, other, rtol, atol, equal_nan)


@public
@of_tensors
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """True if all elements are close."""
    return bool(isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)._data.all())


@public
@of_tensors
def equal(input: Tensor, other: Tensor) -> bool:
    """True if the shapes and all elements are equal."""
    return np.array_equal(input._data, other._data)


isin = public_row("torch.isin", "", "True where an element is among the test elements.",
    lambda elements, test_elements, *, assume_unique=False, invert=False:
        np.isin(elements, test_elements, assume_unique=assume_unique, invert=invert))
