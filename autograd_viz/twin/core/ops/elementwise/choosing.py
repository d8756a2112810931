"""Comparisons, logic, tests such as isnan: they have no gradient. Choices between values: where, maximum, clamp."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import from_numpy_dtype
from ...op import composite, inlined, primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, check_broadcast, of_tensors, refuse_if, refusing
from .arithmetic import widened

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


@primitive("WhereBackward0", promotes=True)
def where_tensors(self, other, *, condition):
    """self where `condition`, else other."""
    taken = condition._data if hasattr(condition, "_data") else condition
    if taken.dtype.kind != "b":
        name = from_numpy_dtype(taken.dtype).legacy
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}")
    try:
        return np.where(taken, self, other)
    except ValueError:
        check_broadcast(*map(Tensor, (taken, self, other)))
        raise


@composite
def where(condition: Any, input: Any, other: Any) -> Any:
    """input where `condition`, else other."""
    return where_tensors(input, other, condition=condition)


@public("torch.where")
def choose(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition`, else `other`. With one argument, the indices where the condition is True."""
    if input is None and other is None:
        return tuple(Tensor(i.astype(np.int64, copy=False)) for i in np.nonzero(condition._data))
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):  # two numbers get the default types
        from ...tensor.creation import tensor

        input = tensor(input)
    return where(condition, input, other)


@public("Tensor.where")
def where_method(self: Tensor, condition: Tensor, other: Any) -> Any:
    """`self` where `condition`, else `other`."""
    return where(condition, self, other)


maximum = public_row("maximum", "MaximumBackward0", "The larger of two. Equal elements share the gradient.",
    lambda self, other: np.maximum(self, other), promotes=True)
minimum = public_row("minimum", "MinimumBackward0", "The smaller of two. Equal elements share the gradient.",
    lambda self, other: np.minimum(self, other), promotes=True,
    self  = lambda grad, self, other: where(eq(self, other), grad / 2, where(self > other, 0, grad)),
    other = lambda grad, self, other: where(eq(self, other), grad / 2, where(self < other, 0, grad)))
fmax = public_row("fmax", "FmaxBackward0",
    "The larger of two, or the one that is not nan. Of equal elements the first gets the gradient.",
    lambda self, other: np.fmax(self, other), promotes=True,
    self  = lambda grad, self, other: where(logical_or(self >= other, isnan(other)), grad, 0),
    other = lambda grad, self, other: where(logical_or(self >= other, isnan(other)), 0, grad))
fmin = public_row("fmin", "FminBackward0",
    "The smaller of two, or the one that is not nan. Of equal elements the first gets the gradient.",
    lambda self, other: np.fmin(self, other), promotes=True,
    self  = lambda grad, self, other: where(logical_or(self <= other, isnan(other)), grad, 0),
    other = lambda grad, self, other: where(logical_or(self <= other, isnan(other)), 0, grad))


@primitive("ClampBackward1")
def clamp_numbers(self, *, min=None, max=None):
    """Clamp between two numbers."""
    self = self if min is None else np.maximum(widened(self, min), min)
    return self if max is None else np.minimum(widened(self, max), max)
clamp_numbers.defvjp(self = lambda grad, self, min, max: where(within(self, min, max), grad, 0))


@primitive("ClampBackward0", promotes=True)
def clamp_tensors(self, min=None, max=None):
    """Clamp each element between its own bounds; `max` wins over a larger `min`."""
    self = self if min is None else np.maximum(self, min)
    return self if max is None else np.minimum(self, max)
clamp_tensors.defvjp(
    self = lambda grad, self, min, max: where(within(self, min, max), grad, 0),
    min  = lambda grad, self, min, max: where(self < min if max is None else logical_and(self < min, min < max), grad, 0),
    max  = lambda grad, self, min, max: where(self > max if min is None else logical_or(self > max, max < min), grad, 0))


@inlined
def within(value: Any, min: Any, max: Any) -> Any:
    """Where the value is within the bounds, which are included."""
    if min is None or max is None:
        return value >= min if max is None else value <= max
    return logical_and(value >= min, value <= max)


@public("clamp", "clip", inplace=True)
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Any:
    """The nearest value between `min` and `max`. They are numbers or tensors; one of them is optional.

    Raises RuntimeError: both bounds are missing. TypeError: one bound is a tensor, the other a number.
    """
    refuse_if(min is None and max is None, "torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [b for b in (min, max) if b is not None]
    if not any(isinstance(b, Tensor) for b in bounds):
        return clamp_numbers(input, min=min, max=max)
    if not all(isinstance(b, Tensor) for b in bounds):
        given = ", ".join("Tensor" if isinstance(b, Tensor) else type(b).__name__ for b in (input, min, max))
        raise TypeError(
            f"clamp() received an invalid combination of arguments - got ({given}), but expected one of:\n"
            " * (Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None)\n"
            " * (Tensor input, Number min = None, Number max = None, *, Tensor out = None)\n"
        )
    return clamp_tensors(input, min, max)


clamp_min_number = row("clamp_min_number", "ClampMinBackward0", "The larger of self and a number.",
    lambda self, *, min: np.maximum(widened(self, min), min),
    self = lambda grad, self, min: where(self >= min, grad, 0))
clamp_min_tensor = row("clamp_min_tensor", "ClampMinBackward1", "The larger of self and another tensor.",
    lambda self, min: np.maximum(self, min), promotes=True,
    self = lambda grad, self, min: where(self >= min, grad, 0),
    min  = lambda grad, self, min: where(self < min, grad, 0))
clamp_max_number = row("clamp_max_number", "ClampMaxBackward0", "The smaller of self and a number.",
    lambda self, *, max: np.minimum(widened(self, max), max),
    self = lambda grad, self, max: where(self <= max, grad, 0))
clamp_max_tensor = row("clamp_max_tensor", "ClampMaxBackward1", "The smaller of self and another tensor.",
    lambda self, max: np.minimum(self, max), promotes=True,
    self = lambda grad, self, max: where(self <= max, grad, 0),
    max  = lambda grad, self, max: where(self > max, grad, 0))


@public("clamp_min", inplace=True)
def clamp_min(input: Tensor, min: Any) -> Any:
    """The larger of `input` and `min`."""
    return clamp_min_tensor(input, min) if isinstance(min, Tensor) else clamp_min_number(input, min=min)


@public("clamp_max", inplace=True)
def clamp_max(input: Tensor, max: Any) -> Any:
    """The smaller of `input` and `max`."""
    return clamp_max_tensor(input, max) if isinstance(max, Tensor) else clamp_max_number(input, max=max)
