"""Choices between values: where, maximum, minimum and clamp."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import from_numpy_dtype
from ...base.names import eq, isnan, logical_and, logical_or
from ...op import composite, inlined, primitive, public, public_row, row
from ...tensor import Tensor, check_broadcast, refuse_if
from .arithmetic import widened


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
