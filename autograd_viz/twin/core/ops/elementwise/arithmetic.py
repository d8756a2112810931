"""Sums, products and quotients, element by element; products and quotients added to a tensor; interpolation.

Formulas and node names: PyTorch's table of derivatives.
"""
# fmt: off

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.names import conjugated
from ...op import Primitive, inlined, primitive, public, public_primitive, public_row, renamed, row
from ...tensor import Tensor, brought_together, refuse, refuse_if

NO_BOOL_DIFFERENCE = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
)

NO_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


def without_bool(*operands: Tensor) -> tuple[Any, ...]:
    """The operands' arrays in their common type. None may be bool."""
    if any(t._data.dtype.kind == "b" for t in operands):
        raise RuntimeError(NO_BOOL)
    return brought_together(*operands)


@inlined
def maybe_multiply(grad: Any, factor: Any) -> Any:
    """`grad * factor`, or `grad` if the factor is 1."""
    return grad if factor == 1 else grad * factor


@public_primitive("add Tensor.__add__ Tensor.__radd__", "AddBackward0", promotes=True, usual=operator.add)
def add(self, other, *, alpha=1):
    """self + alpha * other."""
    return self + other if alpha == 1 and alpha is not True else self + checked_alpha(alpha, self) * other


@public_primitive("sub subtract Tensor.__sub__", "SubBackward0", promotes=without_bool)
def sub(self, other, *, alpha=1):
    """self - alpha * other. Raises RuntimeError: an operand is bool."""
    if self.dtype.kind == "b" or type(other) is bool:
        raise RuntimeError(NO_BOOL_DIFFERENCE if self.dtype.kind == "b" else NO_BOOL)
    return self - other if alpha == 1 and alpha is not True else self - checked_alpha(alpha, self) * other


@primitive("RsubBackward0", promotes=without_bool)
def rsub_tensor(self, other, *, alpha=1):
    """other - alpha * self."""
    if self.dtype.kind == "b":
        raise RuntimeError(NO_BOOL_DIFFERENCE)
    return other - checked_alpha(alpha, self) * self
rsub_tensor.defvjp(
    self  = lambda grad, alpha: maybe_multiply(-grad, alpha),
    other = lambda grad: grad)


@primitive("RsubBackward1")
def rsub_scalar(self, *, other, alpha=1):
    """other - alpha * self, for a Python number `other`."""
    if self.dtype.kind == "b" or type(other) is bool:
        raise RuntimeError(NO_BOOL_DIFFERENCE if self.dtype.kind == "b" and type(other) is bool else NO_BOOL)
    self = widened(self, other)
    other = as_number_of(self, other)
    return other - checked_alpha(alpha, self) * self
rsub_scalar.defvjp(self = lambda grad, alpha: maybe_multiply(-grad, alpha))


@public("torch.rsub", "Tensor.__rsub__")
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    if isinstance(other, Tensor):
        return rsub_tensor(input, other, alpha=alpha)
    return rsub_scalar(input, other=other, alpha=alpha)


@public("mul", "multiply", "Tensor.__mul__", "Tensor.__rmul__")
@primitive("MulBackward0", promotes=True, usual=operator.mul)
def mul(self, other):
    """self * other."""
    return self * other


@primitive("DivBackward0", promotes=True)
def div_tensors(self, other):
    """self / other; the quotient of integers has the default float type."""
    return self / other if self.dtype.kind in "fc" else _as_default_float(self) / _as_default_float(other)


@public("Tensor.__rtruediv__", "Tensor.__rdiv__")
def rdiv(self: Tensor, other: Any) -> Any:
    """other / self, which PyTorch computes as reciprocal(self) * other."""
    return mul(reciprocal(self), other)


# PyTorch's overloads for a Python number. Its composites and backward formulas call them; a user's `x * 2` is `mul`.
add_scalar = row("add_scalar", "AddBackward1", "self + alpha * other, for a number `other`.",
    lambda self, *, other, alpha=1: widened(self, other) + alpha * other,
    self = lambda grad: grad)
sub_scalar = row("sub_scalar", "SubBackward1", "self - alpha * other, for a number `other`.",
    lambda self, *, other, alpha=1: widened(self, other) - alpha * other,
    self = lambda grad: grad)
mul_scalar = row("mul_scalar", "MulBackward1", "self * other, for a number `other`.",
    lambda self, *, other: widened(self, other) * other,
    self = lambda grad, other: grad * conjugated(other))
div_scalar = row("div_scalar", "DivBackward1", "self / other, for a number `other`.",
    lambda self, *, other: _as_float(self) / other,
    self = lambda grad, other: grad / conjugated(other))


@public_primitive("neg negative Tensor.__neg__", "NegBackward0", inplace=True)
def neg(self):
    """-self. Raises RuntimeError: the tensor is bool."""
    if self.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
            "`logical_not()` operator instead."
        )
    return -self


@public("positive", "Tensor.__pos__")
def positive(input: Tensor) -> Tensor:
    """+input: the tensor itself."""
    refuse_if(input._data.dtype.kind == "b", "The `+` operator, on a bool tensor is not supported.")
    return input


def of_floats(names: str, node_name: str, does: str, function: Callable[..., Any], **rules: Callable[..., Any]) -> Primitive:
    """Declare an op of one number, which is computed in a float type. It has an in-place form."""
    return public_row(names, node_name, does, lambda self: function(_as_float(self)), inplace=True, **rules)


reciprocal = public_row("reciprocal", "ReciprocalBackward0", "1 / self.",
    lambda self: 1.0 / _as_float(self), inplace=True,
    self = lambda grad, result: -grad * conjugated(result * result))
zeros_like = row("zeros_like", "", "Zeros in the same shape and type.", lambda self: np.zeros_like(self))


def of_either(names: str, does: str, tensors: Primitive, number: Primitive, of_number: Primitive | None = None) -> Any:
    """Publish a call whose second operand is a tensor or a number. With `of_number`, the first may be a number instead."""
    def call(input: Any, other: Any) -> Any:
        if of_number is not None and not isinstance(input, Tensor):
            return of_number(other, self=input)
        return tensors(input, other) if isinstance(other, Tensor) else number(input, other=other)
    for name in names.split():
        public(name, inplace=not name.endswith("__"))(call)
    return renamed(call, names.split(maxsplit=1)[0].rpartition(".")[2], does)


addcmul = public_row("addcmul", "AddcmulBackward0", "self + value * tensor1 * tensor2.",
    lambda self, tensor1, tensor2, *, value=1: self + value * tensor1 * tensor2, promotes=True, inplace=True,
    self    = lambda grad: grad,
    tensor1 = lambda grad, tensor2, value: grad * conjugated(tensor2 * value),
    tensor2 = lambda grad, tensor1, value: grad * conjugated(tensor1 * value))


def _check_division(tensor1: Any, tensor2: Any) -> None:
    """Refuse to divide whole numbers by whole numbers."""
    refuse_if(tensor1.dtype.kind in "iub" and tensor2.dtype.kind in "iub",
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
        "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
        "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
        "for all dtypes.")


def _divisible(*operands: Tensor) -> tuple[Any, ...]:
    _check_division(operands[1]._data, operands[2]._data)
    return brought_together(*operands)


@public_primitive("addcdiv", "AddcdivBackward0", promotes=_divisible, inplace=True)
def addcdiv(self, tensor1, tensor2, *, value=1):
    """self + value * tensor1 / tensor2. Raises RuntimeError: both are of whole numbers."""
    _check_division(tensor1, tensor2)
    return self + value * (tensor1 / tensor2)
addcdiv.defvjp(
    self    = lambda grad: grad,
    tensor1 = lambda grad, tensor2, value: grad * conjugated(value / tensor2),
    tensor2 = lambda grad, tensor1, tensor2, value: -grad * conjugated(value * tensor1 / (tensor2 * tensor2)))


lerp_scalar = row("lerp_scalar", "LerpBackward0", "self + weight * (end - self), for a number `weight`.",
    lambda self, end, *, weight: self + weight * (end - self) if abs(weight) < 0.5 else end - (end - self) * (1 - weight),
    promotes=True,
    self = lambda grad, weight: grad * conjugated(1 - weight),
    end  = lambda grad, weight: grad * conjugated(weight))
lerp_tensor = row("lerp_tensor", "LerpBackward1", "self + weight * (end - self), all tensors.",
    lambda self, end, weight: np.where(np.abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight)),
    promotes=True,
    self   = lambda grad, weight: grad * conjugated(1 - weight),
    end    = lambda grad, weight: grad * conjugated(weight),
    weight = lambda grad, end, self: grad * conjugated(end - self))


@public("lerp", inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any) -> Any:
    """Linear interpolation from `input` (weight 0) to `end` (weight 1). Raises RuntimeError: the types differ."""
    for name, t in (("end", end), ("weight", weight)):
        if isinstance(t, Tensor) and t.dtype is not input.dtype and (name == "end" or t.ndim):
            raise RuntimeError(f"expected dtype {input.dtype.cpp} for `{name}` but got dtype {t.dtype.cpp}")
    refuse(input, "iub", f"lerp_kernel_{'tensor' if isinstance(weight, Tensor) else 'scalar'}")
    return lerp_tensor(input, end, weight) if isinstance(weight, Tensor) else lerp_scalar(input, end, weight=weight)


# fmt: on
def checked_alpha(alpha: Any, array: Any) -> Any:
    """The factor of add and sub, if its type fits the operands."""
    kind = array.dtype.kind
    refuse_if(isinstance(alpha, bool) and kind != "b", "Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float | complex) and kind in "iub":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and kind == "f":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return bool(alpha) if kind == "b" else alpha


def widened(array: Any, number: Any) -> Any:
    """An array in its common type with a Python number: float for a fractional number, integer instead of bool."""
    if isinstance(number, complex):
        return array.astype(np.result_type(_as_float(array), np.complex64))
    if isinstance(number, float) and array.dtype.kind not in "fc":
        return _as_default_float(array)
    return array.astype(np.int64) if array.dtype.kind == "b" and not isinstance(number, bool) else array


def as_number_of(array: Any, number: Any) -> Any:
    """A Python number in the type of `array`; an integer that does not fit wraps around."""
    return np.array(number).astype(array.dtype)


def _as_float(array: Any) -> Any:
    """Integers in the default float type."""
    return array if array.dtype.kind in "fc" else _as_default_float(array)


def _as_default_float(array: Any) -> Any:
    from ...base.dtypes import get_default_dtype

    return array.astype(get_default_dtype().numpy)
